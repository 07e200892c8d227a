import { expect, test } from "vitest";
import { Dice } from "../../torture/src/plan/dice.ts";
import { type Turn, turns } from "../src/turns.ts";

const first = (seed: string, count: number): readonly Turn[] => turns(new Dice(seed)).take(count).toArray();
const name = ({ lane, kind }: Turn): string => `${lane}.${kind}`;

test("a seed gives the same troubles again, and another one others", () => {
  expect(first("1", 100)).toEqual(first("1", 100));
  expect(first("2", 100)).not.toEqual(first("1", 100));
});

test("each broker, store, link and target has each of its troubles once before any has one again", () => {
  const many = first("1", 1_000).map(name);
  const round = new Set(many).size;
  expect(new Set(many.slice(0, round)).size).toBe(round);
  expect(new Set(many.slice(round, 2 * round)).size).toBe(round);
  const parts = new Set(first("1", round).map(({ lane }) => lane));
  expect([...parts].toSorted()).toEqual(
    [
      "amqp_broker",
      "amqp_source_link",
      "amqp_target_link",
      "dlq_disk",
      "http_answers",
      "http_source_link",
      "http_target",
      "http_target_link",
      "nats_source_broker",
      "nats_source_link",
      "nats_target_broker",
      "nats_target_link",
      "outbox_disk",
      "postgres",
      "source_broker",
      "source_link",
      "target_broker",
      "target_link",
    ].toSorted(),
  );
});
