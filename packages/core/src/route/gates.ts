import type { BridgeError, Envelope, SendOutcome } from "@bridge/ports";
import type { NamedProcessor } from "./route-parts.ts";
import { named } from "./run-processor.ts";
import { sendOutcome } from "./send-outcome.ts";

/** Tells those who let a send through how it ended: `undefined` means that the target accepted it. */
export type Ended = (thrown: unknown) => void;

const NOBODY_ASKED: Ended = () => {};

/** The processors of a route that have a say before each send, such as a circuit breaker. */
export class Gates {
  readonly #gates: readonly NamedProcessor[];

  constructor(processors: readonly NamedProcessor[]) {
    this.#gates = processors.filter(({ processor }) => processor.admit !== undefined);
  }

  /** Asks all of them. The error of the first that refuses; those before it are told that nothing was sent. */
  admit(envelope: Envelope, bindingId: string): Ended | BridgeError {
    if (this.#gates.length === 0) return NOBODY_ASKED;
    const admitted: ((outcome: SendOutcome) => void)[] = [];
    const tell = (outcome: SendOutcome): void => {
      for (const ended of admitted) ended(outcome);
    };
    for (const { id, processor } of this.#gates) {
      try {
        const admission = processor.admit?.(envelope, bindingId);
        if (admission?.kind === "refused") throw admission.error;
        if (admission !== undefined) admitted.push(admission.ended);
      } catch (thrown) {
        tell({ kind: "cancelled" });
        return named(`processor ${id}`, thrown);
      }
    }
    return (thrown) => tell(sendOutcome(thrown));
  }
}
