import { setTimeout as sleep } from "node:timers/promises";
import { SuiteClock } from "@bridge/conformance";
import type { Delivery, Receiver } from "@bridge/ports";
import { startStrictSqs, type StrictQueue, type StrictSqs } from "@bridge/tooling/strict-sqs";
import { envelope, type Line, never, receiver, rememberingLogger, sender } from "./parts.ts";

export interface StageOptions {
  readonly fifo?: boolean;
  /** Of the queue. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Of the receiver. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly maxInFlight?: number;
  readonly maxReplayAttempts?: number;
  /** Time goes on for the queue only. */
  readonly receiverSleeps?: boolean;
}

/** A strict double, one queue of it, and a receiver of that; time passes when the test says so, for all of them. */
export interface Stage extends AsyncDisposable {
  readonly sqs: StrictSqs;
  readonly url: string;
  readonly queue: StrictQueue;
  readonly receiver: Receiver;
  /** Warnings of the receiver. */
  readonly lines: readonly Line[];
  /** Of the route; a test may change it. */
  readonly window: { maxInFlight: number };
  readonly iteration: AbortController;
  readonly receiving: AsyncIterator<Delivery>;
  /** What the receiver counts. */
  count(name: string): number;
  /** To groups that are the first letters of the payloads. */
  publish(...payloads: readonly string[]): Promise<void>;
  /** Another receiver of the queue, as of another instance. */
  another(options?: Readonly<Record<string, unknown>>): Receiver;
  pass(seconds: number): Promise<void>;
  /** Lets time pass, a tenth of a second at a time, until something holds. */
  passUntil(condition: () => boolean): Promise<void>;
}

const STEP_MS = 100;
/** Real time for requests, between two steps. */
const REAL_MS = 2;

export async function stage(given: StageOptions = {}): Promise<Stage> {
  const { fifo = false, attributes = {}, options = {}, receiverSleeps = false, maxReplayAttempts = 5 } = given;
  const window = { maxInFlight: given.maxInFlight ?? 100 };
  const clock = new SuiteClock(Date.now());
  const sqs = await startStrictSqs({ clock });
  const url = sqs.createQueue(fifo ? "q.fifo" : "q", attributes);
  const lines: Line[] = [];
  const build = (more: Readonly<Record<string, unknown>> = {}): Receiver =>
    receiver(
      { queue_url: url, wait_time: "20s", visibility_timeout: "1h", ...options, ...more },
      {
        clock: receiverSleeps ? new SuiteClock(0) : clock,
        logger: rememberingLogger(lines),
        maxReplayAttempts,
        get maxInFlight() {
          return window.maxInFlight;
        },
      },
    );
  const own = build();
  const publisher = sender({ queue_url: url });
  const iteration = new AbortController();
  const parts: AsyncDisposable[] = [own, publisher];
  const passUntil = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      await clock.pass(STEP_MS);
      await sleep(REAL_MS);
    }
  };
  return {
    sqs,
    url,
    queue: sqs.queue(url),
    receiver: own,
    lines,
    window,
    iteration,
    receiving: own.receive(iteration.signal)[Symbol.asyncIterator](),
    count: (name) => own.counters?.()[name] ?? 0,
    async publish(...payloads) {
      for (const payload of payloads) {
        const headers = { "x-bridge.ordering-key": payload[0] ?? "" };
        await publisher.send(envelope({ payload: Buffer.from(payload), headers }), "", never());
      }
    },
    another(more) {
      const other = build(more);
      parts.push(other);
      return other;
    },
    pass: (seconds) => clock.pass(seconds * 1_000),
    passUntil,
    async [Symbol.asyncDispose]() {
      sqs.fault = undefined;
      let disposed = false;
      const all = Promise.all(parts.map((part) => part[Symbol.asyncDispose]())).then(() => (disposed = true));
      // A receiver waits for its polls, and they wait for the time to pass.
      if (!receiverSleeps) await passUntil(() => disposed);
      await sqs[Symbol.asyncDispose]();
      if (!receiverSleeps) await all;
    },
  };
}
