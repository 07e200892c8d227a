import type { Envelope, Sender } from "@bridge/ports";

/** A send that a test ends. */
export interface HeldSend {
  readonly envelope: Envelope;
  readonly address: string;
  readonly signal: AbortSignal;
  readonly attempt: number | undefined;
  readonly accept: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Keeps each send open until the test ends it. */
export class HeldSender implements Sender {
  readonly sends: HeldSend[] = [];

  send(envelope: Envelope, address: string, signal: AbortSignal, attempt?: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.sends.push({ envelope, address, signal, attempt, accept: resolve, refuse: reject });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
