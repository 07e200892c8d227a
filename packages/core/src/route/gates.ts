import type { BridgeError, Envelope, Processor, SendOutcome } from "@bridge/ports";
import { unheard } from "@bridge/ports/internal";
import type { NamedProcessor } from "./route-parts.ts";
import { named } from "./run-processor.ts";
import { sendOutcome } from "./send-outcome.ts";
import type { Surprises } from "./surprises.ts";

/** Tells the gates that admitted a send how it ended: `undefined` means that the target accepted it. */
export type Ended = (thrown: unknown) => void;

const NOBODY_ASKED: Ended = () => {};

type Gate = NamedProcessor & { readonly processor: Required<Pick<Processor, "admit">> };

/** The processors of a route that may refuse a send, such as a circuit breaker. */
export class Gates {
  readonly #gates: readonly Gate[];
  readonly #surprises: Surprises;

  constructor(processors: readonly NamedProcessor[], surprises: Surprises) {
    this.#surprises = surprises;
    this.#gates = processors.filter(isGate);
  }

  /** Asks every gate. Returns the error of the first that refuses; those before it hear that nothing was sent. */
  admit(envelope: Envelope, bindingId: string): Ended | BridgeError {
    if (this.#gates.length === 0) return NOBODY_ASKED;
    const admitted: { readonly id: string; readonly ended: (outcome: SendOutcome) => void }[] = [];
    const tell = (outcome: SendOutcome): void => {
      for (const { id, ended } of admitted) this.#tell(id, ended, outcome);
    };
    for (const { id, processor } of this.#gates) {
      try {
        const admission = unheard(processor.admit(envelope, bindingId));
        if (admission?.kind === "refused") throw admission.error;
        if (admission === undefined) continue;
        const { ended } = admission;
        if (typeof ended !== "function") throw new Error("admitted a send without a function to tell how it ended");
        admitted.push({ id, ended });
      } catch (thrown) {
        this.#surprises.tell(`processor ${id}`, thrown, { envelope_id: envelope.id });
        tell({ kind: "cancelled" });
        return named(`processor ${id}`, thrown);
      }
    }
    return (thrown) => tell(sendOutcome(thrown));
  }

  /** A gate that throws changes nothing: the send has already ended. */
  #tell(id: string, ended: (outcome: SendOutcome) => void, outcome: SendOutcome): void {
    try {
      unheard(ended(outcome));
    } catch (thrown) {
      this.#surprises.tell(`processor ${id}`, thrown);
    }
  }
}

function isGate(part: NamedProcessor): part is Gate {
  return part.processor.admit !== undefined;
}
