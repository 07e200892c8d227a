import { BridgeError, type Envelope, type Sender, systemClock } from "@bridge/ports";
import type { SessionDriver } from "../harness/session-driver.ts";
import { within } from "../harness/within.ts";

const PAUSE_MS = 10;

/** The engine's part for a sender: keeps its session connected and sends to one address. */
export class Producer implements AsyncDisposable {
  readonly sender: Sender;
  readonly session: SessionDriver | undefined;
  readonly #address: string;

  constructor(sender: Sender, session: SessionDriver | undefined, address: string) {
    this.sender = sender;
    this.session = session;
    this.#address = address;
  }

  /** One attempt, with the sender's own bound. */
  send(envelope: Envelope, signal: AbortSignal): Promise<void> {
    return this.sender.send(envelope, this.#address, signal);
  }

  /** Sends until it succeeds: transient errors are tried again, as by the engine. */
  async deliver(envelope: Envelope, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await within(this.send(envelope, signal), signal, "a send to succeed");
        return;
      } catch (error) {
        if (!BridgeError.is(error) || error.class !== "transient") throw error;
        await systemClock.delay(PAUSE_MS, signal);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sender[Symbol.asyncDispose]();
    await this.session?.[Symbol.asyncDispose]();
  }
}
