// Imported rather than global, so that a test may replace the global ones by fakes.
import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, DeadLetter, DlqStore, Logger, Random } from "@bridge/ports";
import { givenOptions, kindOf } from "@bridge/ports/internal";
import { type MemoryAdapter, memory } from "../memory.ts";
import type { MemoryChannel } from "../memory-channel.ts";
import { memoryHub } from "../memory-hub.ts";
import { quiet } from "./quiet.ts";
import { TestClock } from "./test-clock.ts";
import { publishable, received, type ReceivedMessage, type TestMessage } from "./test-message.ts";

/** What of a supervisor a test bridge needs; that of `@bridge/core` is one. */
export interface TestedSupervisor {
  dlq(): DlqStore | undefined;
  shutdown(): Promise<void>;
}

/** What of a bridge in code a test bridge needs; what `defineBridge` gives is one. */
export interface TestedBridge<Supervisor extends TestedSupervisor> {
  start(seams: { readonly clock: Clock; readonly random: Random; readonly logger?: Logger }): Promise<Supervisor>;
}

export interface TestBridgeOptions {
  /** The time of day at which it starts, in epoch milliseconds. Default: 2026-01-01T00:00:00Z. */
  readonly startsAt?: number;
  /** Default: ids are `test-0`, `test-1` and so on, and each random number is 0.5, so that runs are alike. */
  readonly random?: Random;
  /** Default: says nothing. */
  readonly logger?: Logger;
}

/** A bridge inside a test: its ends are channels in memory, and its time passes when the test says so. */
export interface TestBridge<Supervisor extends TestedSupervisor = TestedSupervisor> extends AsyncDisposable {
  /** The bridge, for all else that it can be asked. */
  readonly bridge: Supervisor;
  /** The channels. `inside.hub.channel("out").sends.failNext(1, error)` lets a target fail. */
  readonly inside: MemoryAdapter;
  /** Its time; {@link TestBridge.advance} lets it pass. */
  readonly clock: Clock;
  /**
   * Hands a message to a route by its channel, and resolves when all is done that can be done without time passing.
   * @throws Error when no route takes messages from that channel, or the bridge is closed
   */
  send(channel: string, message: TestMessage): Promise<void>;
  /**
   * The messages that a route has put into a channel, oldest first, once all is done that can be done without time passing. With
   * `atLeast` it waits five real seconds for so many, for what other threads and sockets have a part in.
   * @throws Error that says how many there are, when there are not so many
   */
  received(channel: string, atLeast?: number): Promise<readonly ReceivedMessage[]>;
  /** The dead letters, oldest first. @throws Error when the bridge has no store for them, or is closed */
  deadLetters(): Promise<readonly DeadLetter[]>;
  /**
   * Lets so many milliseconds pass: each timer fires at its time, in order, and what it has set off is done before the next.
   * Calls that overlap go one by one.
   * @throws Error when the bridge is at work without end, as with a source that yields on and on
   */
  advance(ms: number): Promise<void>;
  /** Shuts the bridge down, as disposing it does. What was received is still there to be read; nothing more is handed to a handler. */
  close(): Promise<void>;
}

const STARTS_AT = Date.UTC(2026, 0);
/** Of what a date can say. */
const LAST_MOMENT = 8.64e15;
const REAL_WAIT_MS = 5_000;
const PAGE = 1_000;
/** What is closed in the real world gets a real moment for each of these. */
const CLOSING_STEP_MS = 25;

/**
 * Starts a bridge for a test. `define` is given channels to make its routes from, and makes a new bridge each time: two that run
 * at once have nothing in common.
 *
 * @example
 * await using test = await createTestBridge((inside) =>
 *   defineBridge({ id: "test", stores: { dlq: memoryDlq({ acknowledge_volatile: true }) }, routes: { orders: ordersRoute(inside.channel("in"), inside.at("out")) } }),
 * );
 * await test.send("in", { payload: { item: "apple" } });
 * expect((await test.received("out"))[0]?.json()).toEqual({ item: "apple" });
 * @throws TypeError naming what is none of what it takes
 */
export async function createTestBridge<Supervisor extends TestedSupervisor>(
  define: (inside: MemoryAdapter) => TestedBridge<Supervisor>,
  options: TestBridgeOptions = {},
): Promise<TestBridge<Supervisor>> {
  const { startsAt, random, logger } = testSeams(options);
  if (typeof define !== "function")
    throw new TypeError(`createTestBridge takes a function that defines a bridge, not ${kindOf(define)}`);
  const clock = new TestClock(startsAt);
  const inside = memory(memoryHub());
  const { hub } = inside;
  const bridge = await startable(define(inside)).start({ clock, random, ...(logger !== undefined && { logger }) });
  if (clock.looks === 0)
    throw new Error("the bridge runs already, with another time: let the function define one each time it is called");
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shutDown(bridge, clock));
  return {
    bridge,
    inside,
    clock,
    send: async (channel, message) => {
      if (closed !== undefined) throw new Error("the bridge is closed: it takes no messages");
      const sources = hub.channels().filter(({ isSource }) => isSource);
      if (!sources.some(({ name }) => name === channel))
        throw new Error(`no route takes messages from channel "${channel}", but from ${namesOf(sources)}`);
      hub.publish(channel, publishable(message));
      await quiet(clock);
    },
    received: async (channel, atLeast = 0) => {
      await quiet(clock);
      const there = hub.channel(channel);
      await inRealTime((signal) => there.until(() => there.messages().length >= atLeast, signal)).catch(() => {
        const count = there.messages().length;
        const others = hub.channels().filter((other) => other !== there && other.messages().length > 0);
        const elsewhere = others.length === 0 ? "" : `; there are some in ${namesOf(others)}`;
        throw new Error(`channel "${channel}" holds ${count} messages, where ${atLeast} are waited for${elsewhere}`);
      });
      return there.messages().map(received);
    },
    deadLetters: async () => {
      await quiet(clock);
      if (closed !== undefined) throw new Error("the bridge is closed: read its dead letters before that");
      const store = bridge.dlq();
      if (store === undefined) throw new Error("the bridge keeps no dead letters: give it `stores: { dlq: … }`");
      return inRealTime((signal) => readAll(store, signal));
    },
    advance: (ms) => clock.advance(ms),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function namesOf(channels: readonly MemoryChannel[]): string {
  return channels.length === 0 ? "none" : channels.map(({ name }) => JSON.stringify(name)).join(", ");
}

type TestSeams = Required<Pick<TestBridgeOptions, "startsAt" | "random">> & Pick<TestBridgeOptions, "logger">;

function testSeams(options: TestBridgeOptions): TestSeams {
  const { startsAt = STARTS_AT, random = sameEachTime(), ...rest } = givenOptions("createTestBridge", options);
  if (!Number.isFinite(startsAt) || Math.abs(startsAt) > LAST_MOMENT)
    throw new TypeError(`startsAt of createTestBridge is ${kindOf(startsAt)} that is no time: give epoch milliseconds`);
  if (typeof random?.next !== "function" || typeof random.id !== "function")
    throw new TypeError(`random of createTestBridge is ${kindOf(random)}: give it an object with next() and id()`);
  return { startsAt, random, ...rest };
}

function startable<Bridge extends TestedBridge<TestedSupervisor>>(bridge: Bridge): Bridge {
  const given: unknown = bridge;
  if (typeof given === "object" && given !== null && "start" in given && typeof given.start === "function")
    return bridge;
  throw new TypeError(
    `the function of createTestBridge returned ${kindOf(given)}: let it return what defineBridge does`,
  );
}

function sameEachTime(): Random {
  let ids = 0;
  return { next: () => 0.5, id: () => `test-${ids++}` };
}

/** Unlike one of `AbortSignal.timeout`, its timer keeps the process alive. */
async function inRealTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`it was not done within ${REAL_WAIT_MS} ms`)), REAL_WAIT_MS);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(store: DlqStore, signal: AbortSignal): Promise<readonly DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const heads = await store.list({}, { limit: PAGE, offset }, signal);
    const page = await Promise.all(heads.map(({ id }) => store.get(id, signal)));
    letters.push(...page.filter((letter) => letter !== undefined));
    if (heads.length < PAGE) return letters;
  }
}

/** A stop waits for what is in flight, and that for time. */
async function shutDown(bridge: TestedSupervisor, clock: TestClock): Promise<void> {
  const over = new AbortController();
  const shut = bridge.shutdown().finally(() => over.abort());
  // It is awaited below.
  shut.catch(() => {});
  for (await quiet(clock); !over.signal.aborted; await sleep(1)) await clock.advance(CLOSING_STEP_MS, true);
  await shut;
}
