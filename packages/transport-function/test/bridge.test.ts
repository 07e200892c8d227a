import { PATIENCE } from "@bridge/tooling/patience";
import { RESERVED } from "@bridge/ports";
import { describe, expect, test, vi } from "vitest";
import * as v from "valibot";
import {
  type FunctionMessage,
  handler,
  type HandlerFunction,
  PermanentError,
  source,
  type SourceItem,
} from "../src/index.ts";
import { bridge, type BridgeOptions, ends, QUICK } from "./support/bridge.ts";
import { keptLog, never } from "./support/parts.ts";

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { ...PATIENCE, interval: 2 });

/** A bridge from the channel `in` to a handler. */
const toHandler = (run: HandlerFunction, options: BridgeOptions = {}) =>
  bridge({ policy: QUICK, ...options, handlers: { out: handler(run) } });

describe.each(["direct_hold", "shared_outbox"] as const)("a handler, in %s", (delivery) => {
  test("says by what it throws what becomes of a message, and is told which attempt it is", async () => {
    const attempts: string[] = [];
    await using route = await toHandler(
      (message) => {
        attempts.push(`${message.subject} ${message.attempt}`);
        if (message.subject === "transient") throw new Error("away");
        if (message.subject === "permanent") throw new PermanentError("FORBIDDEN", "not for us");
        if (message.subject === "second" && message.attempt === 1) throw new Error("not yet");
        if (message.subject === "json") message.json();
      },
      { delivery },
    );
    for (const subject of ["plain", "transient", "permanent", "second", "json"])
      route.hub.publish("in", { id: subject, subject, payload: "no JSON" });
    await until(() => ends(route)["delivered"] === 2 && ends(route)["dead_lettered"] === 3);
    const letters = await route.deadLetters();
    const told = letters.map(({ envelope, errorCode, category, attempts: made }) => [
      envelope.subject,
      errorCode,
      category,
      made,
    ]);
    expect(told.toSorted(([one], [other]) => String(one).localeCompare(String(other)))).toEqual([
      ["json", "INVALID_PAYLOAD", "rejected", 1],
      ["permanent", "FORBIDDEN", "permanent", 1],
      ["transient", "INTERNAL", "transient", 2],
    ]);
    expect(attempts.toSorted()).toEqual([
      "json 1",
      "permanent 1",
      "plain 1",
      "second 1",
      "second 2",
      "transient 1",
      "transient 2",
    ]);
    expect(route.supervisor.stats().unaccounted).toBe(0);
  });

  test("that drops what it does not want says so to nobody but the policy", async () => {
    const schema = v.object({ id: v.string() });
    const out = handler(schema, () => {});
    await using route = await bridge({
      handlers: { out },
      policy: { ...QUICK, on_permanent_failure: "drop" },
      delivery,
    });
    route.hub.publish("in", { payload: '{"id":5}' });
    route.hub.publish("in", { payload: '{"id":"o1"}' });
    await until(() => ends(route)["delivered"] === 1 && ends(route)["dropped"] === 1);
    expect(await route.deadLetters()).toEqual([]);
  });

  test("that takes batches has each message settled by itself", async () => {
    const out = handler.batch(
      (messages) =>
        messages.map(({ subject }) => {
          if (subject === "transient") return new Error("away");
          return subject === "permanent" ? new PermanentError("REJECTED", "never") : undefined;
        }),
      { size: 10, within: "5ms" },
    );
    await using route = await bridge({ handlers: { out }, policy: QUICK, delivery });
    for (let count = 0; count < 30; count++)
      route.hub.publish("in", { subject: ["plain", "transient", "permanent"][count % 3]!, payload: `${count}` });
    await until(() => ends(route)["delivered"] === 10 && ends(route)["dead_lettered"] === 20);
    expect(route.supervisor.stats().unaccounted).toBe(0);
  });
});

test("a batch has one message of a key at most, and they keep their order", async () => {
  const batches: (readonly string[])[] = [];
  const out = handler.batch(
    (messages) => void batches.push(messages.map((message) => `${message.key} ${message.text()}`)),
    { size: 10, within: "2ms" },
  );
  await using route = await bridge({ handlers: { out }, policy: QUICK });
  for (let count = 0; count < 12; count++)
    route.hub.publish("in", { orderingKey: `k${count % 3}`, payload: `${Math.floor(count / 3)}` });
  await until(() => ends(route)["delivered"] === 12);
  for (const batch of batches) expect(new Set(batch.map((text) => text.split(" ")[0])).size).toBe(batch.length);
  const all = batches.flat();
  for (const key of ["k0", "k1", "k2"])
    expect(all.filter((text) => text.startsWith(key))).toEqual(["0", "1", "2", "3"].map((text) => `${key} ${text}`));
});

test("a handler's error is logged with its stack, once for each failure", async () => {
  const { logger, lines } = keptLog();
  const boom = (): never => {
    throw new Error("boom");
  };
  await using route = await toHandler(boom, { logger, policy: { ...QUICK, max_replay_attempts: 1 } });
  route.hub.publish("in", { payload: "a" });
  await until(() => ends(route)["dead_lettered"] === 1);
  const errors = lines.filter(({ level }) => level === "error");
  expect(errors).toMatchObject([{ fields: { where: "binding to-out", error: "boom" } }]);
  expect(errors[0]?.fields["stack"]).toContain("bridge.test.ts");
});

test("keys come one after another, the messages of others side by side", async () => {
  let inside = 0;
  let most = 0;
  const seen: string[] = [];
  await using route = await toHandler(async (message) => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    if (message.key === "k") seen.push(message.text());
    inside--;
  });
  for (let count = 0; count < 20; count++) {
    route.hub.publish("in", { payload: `${count}`, orderingKey: "k" });
    route.hub.publish("in", { payload: "other" });
  }
  await until(() => ends(route)["delivered"] === 40);
  expect(seen).toEqual(Array.from({ length: 20 }, (_, count) => `${count}`));
  expect(most).toBeGreaterThan(2);
});

describe("a stop", () => {
  test("lets a handler finish, and accepts what it has done", async () => {
    const work = Promise.withResolvers<AbortSignal>();
    let aborted: boolean | undefined;
    const route = await toHandler(async (_message, { signal }) => {
      work.resolve(signal);
      // Until after the stop has begun.
      await stopping.promise;
      await new Promise((resolve) => setImmediate(resolve));
      aborted = signal.aborted;
    });
    const stopping = Promise.withResolvers<void>();
    route.hub.publish("in", { payload: "a" });
    await work.promise;
    const stopped = route.supervisor.shutdown();
    stopping.resolve();
    await stopped;
    expect(aborted).toBe(false);
    expect(route.hub.channel("in").accepted).toBe(1);
  });

  test("ends the signal when the time for what is in flight is over, and accepts nothing then", async () => {
    const called = Promise.withResolvers<AbortSignal>();
    const route = await toHandler(
      (_message, { signal }) => {
        called.resolve(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
      { budgets: { drain_timeout: "3s", quiesce_timeout: "300ms" } },
    );
    route.hub.publish("in", { payload: "a" });
    const signal = await called.promise;
    const begun = performance.now();
    let endedAfter = 0;
    signal.addEventListener("abort", () => (endedAfter = performance.now() - begun));
    await route.supervisor.shutdown();
    expect(endedAfter).toBeGreaterThan(290);
    expect(route.hub.channel("in").accepted).toBe(0);
    expect(route.hub.channel("in").messages()).toHaveLength(1);
  });
});

describe("a source", () => {
  /** A bridge from a source to the channel `out`. */
  const fromItems = (items: readonly SourceItem[], options: BridgeOptions = {}) =>
    bridge({
      policy: QUICK,
      ...options,
      sources: {
        in: source(async function* () {
          yield* items;
        }),
      },
    });

  test("hears what became of each message, and reserved headers do not come in", async () => {
    const heard: string[] = [];
    const item = (id: string, payload: unknown): SourceItem => ({
      id,
      payload: payload as string,
      headers: { plain: "1", "X-Bridge.Generated-Id": "true", [RESERVED.causationId]: "forged" },
      settled: (outcome) => void heard.push(`${id} ${outcome}`),
    });
    await using route = await fromItems([item("a", "text"), item("b", { json: 1 }), item("c", 5n)]);
    const arrived = await route.hub.channel("out").waitForMessages(2, never);
    expect(arrived).toMatchObject([
      { id: "a", subject: "in", contentType: "" },
      { id: "b", subject: "in", contentType: "application/json" },
    ]);
    for (const { headers } of arrived) expect({ ...headers }).toEqual({ plain: "1" });
    await until(() => heard.length === 3);
    expect(heard.toSorted()).toEqual(["a delivered", "b delivered", "c dead_lettered"]);
    expect(await route.deadLetters()).toMatchObject([{ errorCode: "INVALID_PAYLOAD", envelope: { id: "c" } }]);
  });

  test("whose settled throws has its messages settled all the same, and no line says otherwise", async () => {
    const { logger, lines } = keptLog();
    const settled = (): never => {
      throw new Error("no acknowledgement");
    };
    await using route = await fromItems([{ id: "a", payload: "x", settled }], { logger });
    await until(() => lines.some(({ level }) => level === "warn"));
    await until(() => route.supervisor.stats().routes[0]?.inFlight === 0);
    const told = lines.filter(({ level }) => level === "warn" || level === "error");
    expect(told.map(({ message }) => message)).toEqual([
      "settled of a source failed: the message is settled all the same, and does not come again",
    ]);
    expect(route.supervisor.stats().routes[0]?.settleFailures).toBe(0);
  });

  test("is asked for as many messages as the route holds, and for no more", async () => {
    let yielded = 0;
    const work = Promise.withResolvers<void>();
    const endless = source(async function* () {
      for (;;) yield { payload: `${yielded++}` };
    });
    await using route = await bridge({
      sources: { in: endless },
      handlers: { out: handler(() => work.promise) },
      policy: { max_in_flight: 7 },
    });
    await until(() => route.supervisor.stats().routes[0]?.inFlight === 7);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(yielded).toBe(7);
    work.resolve();
  });

  test("hands out again what a reload has left, and is not begun anew", async () => {
    let begun = 0;
    const counting = source(async function* () {
      begun++;
      for (let count = 0; count < 3; count++) yield { payload: `${count}` };
    });
    const seen: string[] = [];
    const stuck = (
      message: FunctionMessage,
      { signal }: { readonly signal: AbortSignal },
    ): Promise<void> | undefined => {
      seen.push(message.text());
      if (seen.length > 3) return undefined;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    };
    await using route = await bridge({
      sources: { in: counting },
      handlers: { out: handler(stuck) },
      budgets: { drain_timeout: "2s", quiesce_timeout: "50ms" },
    });
    await until(() => seen.length === 3);
    await route.reload({ max_in_flight: 50 });
    await until(() => ends(route)["delivered"] === 3);
    expect(seen).toEqual(["0", "1", "2", "0", "1", "2"]);
    expect(begun).toBe(1);
  });

  test("that fails is begun again, and the bridge says so meanwhile", async () => {
    let begun = 0;
    const failing = source(async function* () {
      if (++begun < 3) throw new Error("away");
      yield { payload: "at last" };
    });
    const { logger, lines } = keptLog();
    await using route = await bridge({ sources: { in: failing }, policy: QUICK, logger });
    await route.hub.channel("out").waitForMessages(1, never);
    expect(begun).toBe(3);
    const lost = lines.filter(({ message }) => message === "source lost");
    expect(lost).toMatchObject([
      { fields: { error: "away", failures: 1 } },
      { fields: { error: "away", failures: 2 } },
    ]);
  });

  test("is ended by a stop, after what is in flight, and begun again by a start", async () => {
    const told: string[] = [];
    const counting = source(async function* ({ signal }) {
      told.push("begun");
      try {
        yield { payload: "a" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      } finally {
        told.push("ended");
      }
    });
    await using route = await bridge({ sources: { in: counting }, policy: QUICK });
    await route.hub.channel("out").waitForMessages(1, never);
    await route.supervisor.stop(never);
    expect(told).toEqual(["begun", "ended"]);
    await route.supervisor.start(never);
    await route.hub.channel("out").waitForMessages(2, never);
    expect(told).toEqual(["begun", "ended", "begun"]);
  });
});
