import { expect, test } from "vitest";
import { Position } from "../src/position.ts";

test("a position is known also where more waits to come again than a call takes arguments", () => {
  const position = new Position();
  position.in("created");
  const last = 300_000;
  for (let sequence = 1; sequence <= last; sequence++) position.handedOut(sequence);
  for (let sequence = last; sequence > 1; sequence--) position.released(sequence);
  expect(position.in("created")).toBe(2);
});

test("a position forgets what the server has seen settled, or has no more", () => {
  const position = new Position();
  position.in("created");
  for (let sequence = 1; sequence <= 5; sequence++) position.handedOut(sequence);
  position.lost([1, 2, 4]);
  const progress = (settled: number, pending: number) => ({
    ack_floor: { stream_seq: settled },
    delivered: { stream_seq: 7 },
    num_ack_pending: pending,
  });
  position.resumed(progress(0, 5));
  position.handedOut(8);
  expect([position.in("created"), position.inDoubt]).toEqual([1, true]);
  position.told(progress(3, 4));
  expect([position.in("created"), position.inDoubt]).toEqual([4, true]);
  position.told(progress(7, 1));
  expect([position.in("created"), position.inDoubt]).toEqual([9, false]);
});
