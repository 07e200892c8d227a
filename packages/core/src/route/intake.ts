import type { RoutePolicy } from "@bridge/config";
import { BridgeError, type Delivery, type Receiver, type Seams } from "@bridge/ports";
import { deadline, orAborted, unheard } from "@bridge/ports/internal";
import type { Admission } from "./admission.ts";
import { backoffDelay } from "./backoff.ts";
import { isWanted } from "./is-wanted.ts";
import { Surprises } from "./surprises.ts";
import { stopped } from "../stopped.ts";

/** A source in memory never leaves the microtask queue: after this many messages, other work gets a turn. */
const PULLS_PER_TURN = 256;

/** A source that takes longer to end is abandoned. */
const RETURN_TIMEOUT_MS = 10_000;

/** Whatever an intake pulls deliveries for. */
export interface Reader {
  readonly admission: Admission;
  /** Takes over an admitted delivery. */
  receive(delivery: Delivery): void;
}

/**
 * Pulls deliveries from one receiver for the route that reads it, and continues when another route replaces that one.
 * What the receiver holds, and a delivery that arrives in between, waits for the next reader.
 */
export class Intake {
  readonly id: string;
  readonly receiver: Receiver;
  readonly #seams: Seams;
  readonly #surprises: Surprises;
  #reader: Reader | undefined;
  /** The current reader's policy, or the last one's if there is none. */
  #policy: Pick<RoutePolicy, "backoff" | "maxInFlight">;
  #lost = false;
  #iteration = new AbortController();
  /** Aborts when waiters must look again: the reader has changed, or the iteration has ended. */
  #look = new AbortController();

  /** `policy`: of the first reader-to-be, because the source may be lost before it attaches. */
  constructor(id: string, receiver: Receiver, seams: Seams, policy: Pick<RoutePolicy, "backoff" | "maxInFlight">) {
    this.id = id;
    this.receiver = receiver;
    this.#policy = policy;
    this.#seams = seams;
    this.#surprises = new Surprises(seams.logger, seams.clock);
  }

  /** Whether the source was lost and has since neither delivered nor reported that it is back. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The window of the current reader, or of the last one. */
  get maxInFlight(): number {
    return this.#policy.maxInFlight;
  }

  attach(reader: Reader): void {
    this.#reader = reader;
    this.#policy = reader.admission;
    this.#lookAgain();
  }

  /** Hands nothing more to `reader`. */
  detach(reader: Reader): void {
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    this.#lookAgain();
  }

  /** Restarts the iteration, so that a source without a session takes its unsettled deliveries back. */
  restart(): void {
    this.#iteration.abort(stopped());
    this.#lookAgain();
  }

  /** Pulls until `signal` aborts. Retries a source that is lost or fails in any other way, with backoff. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    const onAbort = (): void => this.restart();
    signal.addEventListener("abort", onAbort, { once: true });
    while (!signal.aborted) {
      this.#iteration = new AbortController();
      const { signal: iteration } = this.#iteration;
      try {
        await this.#pull(iteration, () => {
          this.#lost = false;
          failures = 0;
        });
        throw new BridgeError("CONNECTION_LOST", "the source ended");
      } catch (thrown) {
        if (iteration.aborted) continue;
        this.#lost = true;
        this.#surprises.tell(`receiver ${this.id}`, thrown);
        await this.#pause(BridgeError.from(thrown), ++failures, signal);
      }
    }
  }

  async #pause(cause: BridgeError, failures: number, signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#seams;
    const delayMs = Math.round(backoffDelay(this.#policy.backoff, failures, () => random.next()));
    logger.warn("source lost", { code: cause.code, error: cause.message, failures, retry_in_ms: delayMs });
    await clock.delay(delayMs, signal).catch(() => {});
  }

  async #pull(signal: AbortSignal, onPresent: () => void): Promise<void> {
    let over = false;
    const present = (): void => {
      if (!over) onPresent();
    };
    const source = unheard(unheard(this.receiver.receive(signal, present))[Symbol.asyncIterator]());
    try {
      // A source that ignores the signal would go on for as long as there is room.
      for (let pulls = 1; !signal.aborted; pulls++) {
        // Room first: a delivery pulled before there is room for it would lie there unsettled. The slot itself is taken
        // with the delivery, so that a source with nothing to give keeps no inject waiting.
        if (this.#reader?.admission.hasRoom !== true) await this.#room(signal);
        const next = await source.next();
        if (next.done === true) return;
        if (!isDelivery(next.value)) throw new Error("the receiver yielded what is no delivery");
        onPresent();
        const handedOver = this.#handOver(next.value, signal);
        if (handedOver !== undefined) await handedOver;
        if (pulls % PULLS_PER_TURN === 0) await new Promise<void>((resolve) => this.#seams.clock.turn(resolve));
      }
    } finally {
      over = true;
      await this.#close(source);
    }
  }

  /** However the source ends, and however long that takes, the intake then asks it anew. */
  async #close(source: AsyncIterator<Delivery>): Promise<void> {
    using limit = deadline(
      this.#seams.clock,
      RETURN_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the source did not end"),
    );
    try {
      await orAborted(Promise.resolve(source.return?.()), limit.signal);
    } catch (thrown) {
      const { code, message } = BridgeError.from(thrown);
      this.#seams.logger.warn("source did not end as it should", { code, error: message });
    }
  }

  /** Returns `undefined` when done: most deliveries find room at once. */
  #handOver(delivery: Delivery, signal: AbortSignal): Promise<void> | undefined {
    const takenBack = takenBackOf(delivery);
    if (takenBack?.aborted === true) return undefined;
    const reader = this.#reader;
    if (reader === undefined) return this.#handOverLater(delivery, undefined, signal);
    const admitted = reader.admission.admit(this.#look.signal, takenBack);
    if (admitted !== true) return this.#handOverLater(delivery, admittedBy(reader, admitted), signal);
    this.#begin(delivery, reader);
    return undefined;
  }

  /** `admitting`: the admission already under way with the current reader, if any. */
  async #handOverLater(
    delivery: Delivery,
    admitting: Promise<Reader | undefined> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const takenBack = takenBackOf(delivery);
    let by = await admitting;
    for (;;) {
      if (by !== undefined) {
        if (by === this.#reader && !signal.aborted) return this.#begin(delivery, by);
        by.admission.release();
      }
      // Nothing is to be done for it any more, and the source may have others.
      if (takenBack?.aborted === true) return;
      const reader = await this.#someReader(signal);
      by = await admittedBy(reader, reader.admission.admit(this.#look.signal, takenBack));
    }
  }

  #begin(delivery: Delivery, reader: Reader): void {
    if (isWanted(delivery, this.id, this.#surprises)) reader.receive(delivery);
    else reader.admission.giveBack();
  }

  async #room(signal: AbortSignal): Promise<void> {
    for (;;) {
      const reader = await this.#someReader(signal);
      const { signal: look } = this.#look;
      // Rejects only when the reader has changed or left.
      await reader.admission.room(look).catch(() => {});
      if (!look.aborted) return;
    }
  }

  async #someReader(signal: AbortSignal): Promise<Reader> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#reader !== undefined) return this.#reader;
      const { signal: look } = this.#look;
      await new Promise((resolve) => look.addEventListener("abort", resolve, { once: true }));
    }
  }

  #lookAgain(): void {
    this.#look.abort();
    this.#look = new AbortController();
  }
}

async function admittedBy(reader: Reader, admitted: boolean | Promise<boolean>): Promise<Reader | undefined> {
  return (await admitted) ? reader : undefined;
}

/** Whether it can be settled: otherwise it would hold its slot for ever. */
function isDelivery(value: unknown): value is Delivery {
  return typeof (value as Partial<Delivery> | null | undefined)?.settle === "function";
}

/** `delivery` may be anything. If its signal cannot be listened to, the route decides what to do. */
function takenBackOf(delivery: Delivery): AbortSignal | undefined {
  try {
    const { signal } = delivery;
    return signal instanceof AbortSignal ? signal : undefined;
  } catch {
    return undefined;
  }
}
