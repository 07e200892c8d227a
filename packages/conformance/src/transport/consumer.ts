import assert from "node:assert/strict";
import { BridgeError, type Delivery, type Receiver } from "@bridge/ports";
import type { SessionDriver } from "../harness/session-driver.ts";
import { within } from "../harness/within.ts";
import { textOf } from "./messages.ts";

/** The engine's part for a receiver: keeps its session connected and takes deliveries, one when it is asked for one. */
export class Consumer implements AsyncDisposable {
  readonly receiver: Receiver;
  readonly session: SessionDriver | undefined;
  readonly #controller = new AbortController();
  #iterator: AsyncIterator<Delivery> | undefined;
  #pending: Promise<IteratorResult<Delivery>> | undefined;

  constructor(receiver: Receiver, session: SessionDriver | undefined) {
    this.receiver = receiver;
    this.session = session;
  }

  /** Resolves when the receiver is open, its session is up, and a first delivery has been asked for. */
  async start(signal: AbortSignal): Promise<void> {
    await this.receiver.open?.(signal);
    void this.#ask();
    await this.session?.up(1, signal);
  }

  /** The signal that the iteration was given. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The next delivery. As the engine does, begins again when a source without a session is lost. */
  async next(signal: AbortSignal): Promise<Delivery> {
    for (;;) {
      try {
        const result = await within(this.#ask(), signal, "a delivery");
        this.#pending = undefined;
        assert.notEqual(result.done, true, "receive ended although its signal has not aborted");
        return result.value as Delivery;
      } catch (error) {
        if (this.session !== undefined || !BridgeError.is(error) || error.class !== "transient") throw error;
        this.#pending = undefined;
        this.#iterator = undefined;
      }
    }
  }

  /** The next `count` deliveries, unsettled. */
  async take(count: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    while (deliveries.length < count) deliveries.push(await this.next(signal));
    return deliveries;
  }

  /**
   * Accepts deliveries until each of these payloads has come. A payload may come twice; of others only those may come
   * that are `tolerated`.
   */
  async acceptAll(payloads: readonly string[], signal: AbortSignal, tolerated: readonly string[] = []): Promise<void> {
    const missing = new Set(payloads);
    while (missing.size > 0) {
      const delivery = await this.next(signal);
      const payload = textOf(delivery.message);
      const expected = payloads.includes(payload) || tolerated.includes(payload);
      assert.ok(expected, `"${payload}" was delivered, only ${payloads.join(", ")} should be`);
      missing.delete(payload);
      await accept(delivery, signal);
    }
  }

  /** Aborts the iteration; resolves when it has ended, which it must without throwing. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#controller.abort(new Error("the consumer is stopped"));
    const result = await within(this.#ask(), signal, "the end of receive after its signal aborted");
    assert.equal(result.done, true, "receive went on after its signal aborted");
    this.#pending = undefined;
  }

  /** Ends the iteration as leaving a loop does, without aborting its signal. */
  async leave(signal: AbortSignal): Promise<void> {
    await within(Promise.resolve(this.#iterator?.return?.()), signal, "the end of receive when its loop was left");
  }

  /** Resolves when the iteration ends, or has thrown a BridgeError. */
  async end(signal: AbortSignal): Promise<void> {
    try {
      const result = await within(this.#ask(), signal, "receive to end");
      assert.equal(result.done, true, "receive yielded a delivery instead of ending");
    } catch (error) {
      if (!BridgeError.is(error)) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort(new Error("the consumer is disposed"));
    await this.receiver[Symbol.asyncDispose]();
    await this.session?.[Symbol.asyncDispose]();
  }

  #ask(): Promise<IteratorResult<Delivery>> {
    if (this.#pending === undefined) {
      this.#iterator ??= this.receiver.receive(this.signal)[Symbol.asyncIterator]();
      this.#pending = this.#iterator.next();
      this.#pending.catch(() => {});
    }
    return this.#pending;
  }
}

/** Settles a delivery as delivered; resolves when the source has been told. */
export async function accept(delivery: Delivery, signal: AbortSignal): Promise<void> {
  const told = delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: delivery.message.id ?? "unknown" });
  await within(Promise.resolve(told), signal, "the source to take a settlement");
}
