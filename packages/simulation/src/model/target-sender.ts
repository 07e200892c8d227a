import { BridgeError, type Envelope, type Sender } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import type { Target } from "./target.ts";

/** Sends without a session, as over HTTP: a connection exists only while something is on its way. */
export class TargetSender implements Sender {
  readonly #target: Target;
  readonly #owner: Owner;
  #gone = new AbortController();

  constructor(target: Target, owner: Owner) {
    this.#target = target;
    this.#owner = owner;
  }

  send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    return this.#target.send(envelope, address, AbortSignal.any([signal, this.#gone.signal]), this.#owner);
  }

  /** Sends on their way fail once that is noticed; whether they arrived is unknown. */
  cut(noticedAfterMs: number): void {
    const gone = this.#gone;
    this.#gone = new AbortController();
    const { time } = this.#target.options;
    time.reach(this.#owner, time.now + noticedAfterMs, () => gone.abort(lost()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gone.abort(lost());
  }
}

function lost(): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the connection to the target is lost");
}
