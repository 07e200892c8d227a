import type { RoutePolicy } from "@bridge/config";
import { type Delivery, type Logger, type Receiver, silentLogger } from "@bridge/ports";
import { Controls } from "../../src/control/controls.ts";
import { Admission } from "../../src/route/admission.ts";
import { Intake, type Reader } from "../../src/route/intake.ts";
import { FakeClock } from "./fake-clock.ts";
import { policyOf } from "./policy.ts";

const BACKOFF = { initialIntervalMs: 1_000, maxIntervalMs: 8_000, multiplier: 2, jitter: 0 };

export function deliveryOf(id: string): Delivery {
  return { message: { id, subject: "s", payload: new Uint8Array() }, settle() {} };
}

/** A source of which a test holds the other end: each iteration is one opening. */
export class Tap {
  readonly openings: {
    readonly signal: AbortSignal;
    readonly present: () => void;
    give: (delivery: Delivery) => void;
    fail: (error: Error) => void;
    end: () => void;
    asked: number;
    returned: boolean;
  }[] = [];
  onReturn: () => Promise<void> = async () => {};

  get last() {
    const last = this.openings.at(-1);
    if (last === undefined) throw new Error("nobody has asked");
    return last;
  }

  readonly receiver: Receiver = {
    receive: (signal, present) => {
      let next = Promise.withResolvers<IteratorResult<Delivery>>();
      const answered = (): void => void (next = Promise.withResolvers());
      const opening: Tap["openings"][number] = {
        signal,
        present: present ?? (() => {}),
        give: (value) => (next.resolve({ value, done: false }), answered()),
        fail: (error) => (next.reject(error), answered()),
        end: () => (next.resolve({ value: undefined, done: true }), answered()),
        asked: 0,
        returned: false,
      };
      signal.addEventListener("abort", () => next.resolve({ value: undefined, done: true }), { once: true });
      this.openings.push(opening);
      const { onReturn } = this;
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            opening.asked++;
            return next.promise;
          },
          return: async () => {
            opening.returned = true;
            await onReturn();
            return { value: undefined, done: true as const };
          },
        }),
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** An intake whose source, readers and log a test has in its hands. */
export function heldIntake(maxInFlight = 100) {
  const clock = new FakeClock();
  const told: string[] = [];
  const causes: unknown[] = [];
  const unexpected: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) => void (told.push(message), causes.push(fields?.["code"])),
    error: (_, fields) => void unexpected.push([fields?.["where"], fields?.["error"]]),
  };
  const tap = new Tap();
  const policy = policyOf({ maxInFlight, backoff: BACKOFF });
  const intake = new Intake("in", tap.receiver, { clock, random: { next: () => 0.5, id: () => "" }, logger }, policy);
  const stop = new AbortController();
  const readerOf = (own: Partial<RoutePolicy> = {}) => {
    const control = new Controls(clock).route("r");
    const admission = new Admission({ ...policy, ...own }, control, []);
    const received: (string | undefined)[] = [];
    const reader: Reader = { admission, receive: ({ message }) => void received.push(message.id) };
    return { reader, admission, received, control };
  };
  return { clock, told, causes, unexpected, tap, intake, stop, readerOf, running: () => intake.run(stop.signal) };
}
