import { memoryDlq } from "@bridge/dlq-memory";
import { amqp } from "@bridge/transport-amqp";
import { handler } from "@bridge/transport-function";
import { http } from "@bridge/transport-http";
import { memory } from "@bridge/transport-memory";
import { mqtt } from "@bridge/transport-mqtt";
import { nats } from "@bridge/transport-nats";
import { sqs } from "@bridge/transport-sqs";
import { describe, expect, test } from "vitest";

const rabbit = amqp({ url: "amqp://127.0.0.1" });
const topics = mqtt({ broker_urls: ["mqtt://127.0.0.1"] });
const streams = nats({ servers: ["nats://127.0.0.1"] });
const queues = sqs();
const inside = memory();

/** What makes a part in code, and what its error begins with. */
const NEEDED: readonly (readonly [string, (options: never) => unknown])[] = [
  ['store "memory"', memoryDlq],
  ["amqp", amqp],
  ["mqtt", mqtt],
  ["nats", nats],
];
const OPTIONAL: readonly (readonly [string, (options: never) => unknown])[] = [
  ["sqs", (options) => sqs(options)],
  ["http.listen", (options) => http.listen(options)],
  ["a sender of http", http],
  ["a queue of amqp", (options) => rabbit.queue("a", options)],
  ["an exchange of amqp", (options) => rabbit.exchange("a", options)],
  ["a sender of amqp", (options) => rabbit.at("a", options)],
  ["a topic of mqtt", (options) => topics.topic("a", options)],
  ["a sender of mqtt", (options) => topics.sender(options)],
  ["a stream of nats", (options) => streams.stream("a", options)],
  ["a queue of sqs", (options) => queues.queue("a", options)],
  ["a channel of memory", (options) => inside.channel("a", options)],
  ["a session of memory", (options) => inside.session(options)],
  ["handler", (options) => handler(() => {}, options)],
];
const ODD: readonly (readonly [unknown, string])[] = [
  [null, "null"],
  [5, "a number"],
  ["amqp://127.0.0.1", "a string"],
  [[], "an array"],
];

describe("what is no options is named, with who got it", () => {
  test.each([...NEEDED, ...OPTIONAL])("%s", (who, make) => {
    for (const [options, kind] of ODD) {
      expect(() => make(options as never)).toThrow(TypeError);
      expect(() => make(options as never)).toThrow(`options of ${who} are ${kind}: give it an object`);
    }
  });

  test.each(NEEDED)("%s without any", (who, make) => {
    expect(() => make(undefined as never)).toThrow(`options of ${who} are undefined: give it an object`);
  });

  test("what a store knows is listed, and a promise or a map is not taken for no options", () => {
    expect(() => memoryDlq(undefined as never)).toThrow("give it an object with acknowledge_volatile, max_entries");
    expect(() => memoryDlq(new Map([["acknowledge_volatile", true]]) as never)).toThrow("are a Map: give it");
    expect(() => amqp(Promise.resolve({ url: "amqp://127.0.0.1" }) as never)).toThrow("are a Promise: give it");
  });

  test("addresses that are no list are for the schema, and filters that are none are named", () => {
    expect(() => mqtt({ broker_urls: "mqtt://127.0.0.1" as never })).not.toThrow();
    expect(() => nats({} as never)).not.toThrow();
    expect(() => topics.topics("a" as never)).toThrow("topics of mqtt are a string: give it a list of filters");
  });
});
