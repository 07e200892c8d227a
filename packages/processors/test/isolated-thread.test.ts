import { BridgeError, silentLogger } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, test } from "vitest";
import { IsolatedThread } from "../src/isolated-thread.ts";
import type { ThreadTask } from "../src/thread-protocol.ts";
import { bound, contextOf, envelopeOf, json, type Surroundings } from "./support/parts.ts";

const PROGRAM = new URL("../src/processor-thread.ts", import.meta.url);
const pattern: ThreadTask = { kind: "schema", schema: { type: "string", pattern: "^(a+)+$" } };
const hostile = envelopeOf({ id: "hostile", payload: json(`${"a".repeat(60)}!`) });
const harmless = envelopeOf({ payload: json("aaa") });

function threadOf(task: ThreadTask, surroundings?: Surroundings, program = PROGRAM): IsolatedThread {
  return new IsolatedThread({ task, program, timeoutMs: 1_000, ...contextOf(surroundings) });
}

/** Whether a promise has ended, either way. */
function watched(promise: Promise<unknown>): () => boolean {
  let ended = false;
  const end = (): void => void (ended = true);
  promise.then(end, end);
  return () => ended;
}

/** Lets the other thread get on with it, until `condition` holds. */
async function until(condition: () => boolean): Promise<void> {
  const signal = bound();
  while (!condition()) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Lets time pass, a little at a time, until `condition` holds. A thread that starts meanwhile would run out of time. */
async function passing(clock: ManualClock, condition: () => boolean): Promise<void> {
  await until(() => {
    if (!condition()) clock.advance(250);
    return condition();
  });
}

function threads(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "MessagePort").length;
}

describe("a thread of its own", () => {
  test.each(["https://cdn.example/processors.mjs", "node:fs", "data:text/javascript,throw 1", "file:///nowhere.mjs"])(
    "that cannot be started fails its messages, each time, and nothing else: %s",
    async (href) => {
      await using thread = threadOf(pattern, undefined, new URL(href));
      for (let tries = 0; tries < 2; tries++) {
        const runs = [thread.run(harmless, bound()), thread.run(harmless, bound())];
        const unavailable = { status: "rejected", reason: { code: "UNAVAILABLE" } };
        expect(await Promise.allSettled(runs)).toMatchObject([unavailable, unavailable]);
      }
    },
  );

  test("answers each message, in order, and does not take what belongs to the caller", async () => {
    await using thread = threadOf(pattern);
    const shared = new Uint8Array(64);
    const payload = shared.subarray(8, 13);
    payload.set(json("aaa"));
    const order: number[] = [];
    const runs = Array.from({ length: 100 }, async (_, at) => {
      await thread.run(envelopeOf({ payload }), bound());
      order.push(at);
    });
    await Promise.all(runs);
    expect(order).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(shared.length).toBe(64);
    expect(payload).toEqual(json("aaa"));
  });

  test("fails the one message that it hangs on, at its time, and works on the others again", async () => {
    const clock = new ManualClock();
    await using thread = threadOf(pattern, { clock });
    await thread.run(harmless, bound());
    const others = [thread.run(harmless, bound()), thread.run(harmless, bound())];
    const failed = thread.run(hostile, bound());
    others.push(thread.run(harmless, bound()));
    await passing(clock, watched(failed));
    await expect(failed).rejects.toMatchObject({
      code: "TIMEOUT",
      message: "was not done with the message within 1000 ms",
    });
    for (const other of others) await expect(other).resolves.toEqual({});
    expect(clock.ticking).toBe(0);
  });

  test("does not fail what it has seen at work for less than its time", async () => {
    const clock = new ManualClock();
    await using thread = threadOf(pattern, { clock });
    await thread.run(harmless, bound());
    const run = thread.run(hostile, bound());
    const ended = watched(run);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended()).toBe(false);
    await passing(clock, ended);
    await expect(run).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("ends what hangs when nobody waits for it any more, too", async () => {
    const clock = new ManualClock();
    let replaced = false;
    const logger = { ...silentLogger, warn: (): void => void (replaced = true) };
    await using thread = threadOf(pattern, { clock, logger });
    await thread.run(harmless, bound());
    const caller = new AbortController();
    const given = thread.run(hostile, caller.signal);
    const other = thread.run(harmless, bound());
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort(new Error("given up"));
    await expect(given).rejects.toThrow("given up");
    await passing(clock, () => replaced);
    await expect(other).resolves.toEqual({});
  });

  test("fails what needs more memory than it has, and works on the others again", async () => {
    const config = {
      payload: "$count(payload.{'a': [[1..90000], [1..90000], [1..90000], [1..90000], [1..90000]]})",
      contentType: undefined,
      subject: undefined,
      headers: {},
      timeoutMs: 60_000,
      maxBytes: 1_000_000,
    };
    const context = contextOf();
    await using thread = new IsolatedThread({
      task: { kind: "transform", config },
      program: PROGRAM,
      timeoutMs: 60_000,
      ...context,
    });
    const many = Array.from({ length: 5_000 }, (_, at) => at);
    const large = thread.run(envelopeOf({ payload: json(many) }), bound());
    const small = thread.run(envelopeOf({ payload: json([1]) }), bound());
    await expect(large).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: "needed more than 256 MiB for the message",
    });
    await expect(small).resolves.toBeDefined();
  });

  test("that cannot start fails its messages as UNAVAILABLE, which is tried again", async () => {
    await using thread = threadOf({ kind: "schema", schema: { type: "nonsense" } });
    await expect(thread.run(harmless, bound())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("its thread failed: schema is invalid") as string,
    });
  });

  test("that does not start in time fails its messages as UNAVAILABLE", async () => {
    const clock = new ManualClock();
    await using thread = threadOf(pattern, { clock });
    const run = thread.run(harmless, bound());
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(30_000);
    await expect(run).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("did not start") as string,
    });
  });

  test("abort gives up at once, and before the thread is even told", async () => {
    await using thread = threadOf(pattern);
    const reason = new Error("given up");
    await expect(thread.run(harmless, AbortSignal.abort(reason))).rejects.toBe(reason);
    await thread.run(harmless, bound());
  });

  test("leaves nothing behind when it is disposed, not even a message that hangs", async () => {
    const before = threads();
    const clock = new ManualClock();
    const thread = threadOf(pattern, { clock });
    const run = thread.run(hostile, bound()).catch((error: unknown) => error);
    await until(() => threads() > before);
    await thread[Symbol.asyncDispose]();
    expect(BridgeError.is(await run)).toBe(true);
    expect(await run).toMatchObject({ code: "UNAVAILABLE", message: "the processor has been stopped" });
    await expect(thread.run(harmless, bound())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(clock.ticking).toBe(0);
    await until(() => threads() === before);
  });
});
