/** When a circuit opens, and how it closes again. */
export interface CircuitPolicy {
  /** So many failures in a row open it. */
  readonly failures: number;
  /** How long it stays open. */
  readonly openForMs: number;
  /** So many sends are then let through; the circuit closes when all of them succeed, and one failure opens it again. */
  readonly probes: number;
}

/**
 * - `closed`: every send is admitted. Entered from `half_open`, when the probes have succeeded. Left for `open` with the
 *   last of the failures in a row.
 * - `open`: no send is admitted until `until`; the first one after that makes it `half_open`.
 * - `half_open`: a few sends are admitted, as probes. Left for `closed` or `open` by how they end.
 */
export type Circuit =
  | { readonly kind: "closed"; readonly failures: number }
  | { readonly kind: "open"; readonly until: number }
  | {
      readonly kind: "half_open";
      /** Tells the probes of this time from those of an earlier one that end late. */
      readonly episode: symbol;
      readonly probing: number;
      readonly succeeded: number;
    };

/** A circuit that has seen no failure: nothing needs to be remembered of it. */
export const CLEAN: Circuit = { kind: "closed", failures: 0 };

/** How a send ended, as far as it says something about the target. */
export type SendSign = "success" | "failure" | "none";

/** Given with an admission, to be handed in with the end of the send. */
export type Ticket = { readonly probeOf: symbol | undefined };

export type AdmissionDecision =
  | { readonly kind: "admitted"; readonly circuit: Circuit; readonly ticket: Ticket }
  | { readonly kind: "refused"; readonly waitMs: number };

/** What a refused send waits for while probes are under way; sooner than the whole time, since they may succeed. */
const PROBING_WAIT_MS = 1_000;

const NO_PROBE: Ticket = { probeOf: undefined };

/** Whether a send may go. Times are monotonic milliseconds. */
export function admit(circuit: Circuit, now: number, policy: CircuitPolicy): AdmissionDecision {
  switch (circuit.kind) {
    case "closed":
      return { kind: "admitted", circuit, ticket: NO_PROBE };
    case "open":
      if (now < circuit.until) return { kind: "refused", waitMs: circuit.until - now };
      return probe({ kind: "half_open", episode: Symbol("half open"), probing: 0, succeeded: 0 });
    case "half_open":
      if (circuit.probing + circuit.succeeded < policy.probes) return probe(circuit);
      return { kind: "refused", waitMs: Math.min(policy.openForMs, PROBING_WAIT_MS) };
  }
}

function probe(circuit: Extract<Circuit, { readonly kind: "half_open" }>): AdmissionDecision {
  return {
    kind: "admitted",
    circuit: { ...circuit, probing: circuit.probing + 1 },
    ticket: { probeOf: circuit.episode },
  };
}

/** What a circuit becomes when a send ends that was admitted with `ticket`. */
export function afterSend(
  circuit: Circuit,
  ticket: Ticket,
  sign: SendSign,
  now: number,
  policy: CircuitPolicy,
): Circuit {
  if (circuit.kind === "closed") return ticket.probeOf === undefined ? afterUsual(circuit, sign, now, policy) : circuit;
  if (circuit.kind === "open" || ticket.probeOf !== circuit.episode) return circuit;
  const probing = circuit.probing - 1;
  if (sign === "none") return { ...circuit, probing };
  if (sign === "failure") return { kind: "open", until: now + policy.openForMs };
  const succeeded = circuit.succeeded + 1;
  return succeeded < policy.probes ? { ...circuit, probing, succeeded } : CLEAN;
}

function afterUsual(
  circuit: Extract<Circuit, { readonly kind: "closed" }>,
  sign: SendSign,
  now: number,
  policy: CircuitPolicy,
): Circuit {
  if (sign === "none") return circuit;
  if (sign === "success") return CLEAN;
  const failures = circuit.failures + 1;
  return failures < policy.failures ? { kind: "closed", failures } : { kind: "open", until: now + policy.openForMs };
}
