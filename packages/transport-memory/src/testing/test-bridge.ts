import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, DeadLetter, DlqStore, Logger, Random } from "@bridge/ports";
import { type MemoryAdapter, memory } from "../memory.ts";
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
  /** Hands a message to a route by its channel, and resolves when all is done that can be done without time passing. */
  send(channel: string, message: TestMessage): Promise<void>;
  /**
   * The messages that a route has put into a channel, oldest first, once all is done that can be done without time passing. With
   * `atLeast` it waits five real seconds for so many, for what other threads and sockets have a part in.
   * @throws Error that says how many there are, when there are not so many
   */
  received(channel: string, atLeast?: number): Promise<readonly ReceivedMessage[]>;
  /** The dead letters, oldest first. @throws Error when the bridge has no store for them */
  deadLetters(): Promise<readonly DeadLetter[]>;
  /** Lets so many milliseconds pass: each timer fires at its time, in order, and what it has set off is done before the next. */
  advance(ms: number): Promise<void>;
  /** Shuts the bridge down, as disposing it does. */
  close(): Promise<void>;
}

const STARTS_AT = Date.UTC(2026, 0);
const REAL_WAIT_MS = 5_000;
const PAGE = 1_000;
/** What is closed in the real world gets a real moment for each of these. */
const CLOSING_STEP_MS = 100;

/**
 * Starts a bridge for a test. `define` is given channels to make its routes from.
 *
 * @example
 * await using test = await createTestBridge((inside) =>
 *   defineBridge({ id: "test", stores: { dlq: memoryDlq({ acknowledge_volatile: true }) }, routes: { orders: ordersRoute(inside.channel("in"), inside.at("out")) } }),
 * );
 * await test.send("in", { payload: { item: "apple" } });
 * expect((await test.received("out"))[0]?.json()).toEqual({ item: "apple" });
 */
export async function createTestBridge<Supervisor extends TestedSupervisor>(
  define: (inside: MemoryAdapter) => TestedBridge<Supervisor>,
  { startsAt = STARTS_AT, random = sameEachTime(), logger }: TestBridgeOptions = {},
): Promise<TestBridge<Supervisor>> {
  const clock = new TestClock(startsAt);
  const inside = memory(memoryHub());
  const bridge = await define(inside).start({ clock, random, ...(logger !== undefined && { logger }) });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shutDown(bridge, clock));
  return {
    bridge,
    inside,
    clock,
    send: async (channel, message) => {
      inside.hub.publish(channel, publishable(message));
      await quiet(clock);
    },
    received: async (channel, atLeast = 0) => {
      await quiet(clock);
      const there = inside.hub.channel(channel);
      await there
        .until(() => there.messages().length >= atLeast, AbortSignal.timeout(REAL_WAIT_MS))
        .catch(() => {
          const count = there.messages().length;
          throw new Error(`channel "${channel}" holds ${count} messages, where ${atLeast} are waited for`);
        });
      return there.messages().map(received);
    },
    deadLetters: async () => {
      await quiet(clock);
      const store = bridge.dlq();
      if (store === undefined) throw new Error("the bridge keeps no dead letters: give it `stores: { dlq: … }`");
      return readAll(store);
    },
    advance: (ms) => clock.advance(ms),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function sameEachTime(): Random {
  let ids = 0;
  return { next: () => 0.5, id: () => `test-${ids++}` };
}

async function readAll(store: DlqStore): Promise<readonly DeadLetter[]> {
  const signal = AbortSignal.timeout(REAL_WAIT_MS);
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
  for (await quiet(clock); !over.signal.aborted; await sleep(1)) await clock.advance(CLOSING_STEP_MS);
  await shut;
}
