import { BridgeError, type Clock, type Envelope } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { NamedProcessor } from "./route-parts.ts";
import { soundEnvelope } from "./sound-envelope.ts";
import type { Surprises } from "./surprises.ts";

/**
 * Runs one processor on a message: returns the message to pass on, or the error to fail it with, which names the
 * processor. A processor that throws, times out or returns something else has failed.
 */
export async function runProcessor(
  clock: Clock,
  { id, processor, strays }: NamedProcessor,
  envelope: Envelope,
  timeoutMs: number,
  signal: AbortSignal,
  surprises?: Surprises,
): Promise<Envelope | BridgeError> {
  using bound = deadline(clock, timeoutMs, new BridgeError("TIMEOUT", `did not end within ${timeoutMs} ms`));
  const bounded = AbortSignal.any([signal, bound.signal]);
  let running: Promise<unknown> | undefined;
  try {
    running = Promise.resolve(processor.process(envelope, bounded));
    return resultOf(await orAborted(running, bounded), envelope);
  } catch (thrown) {
    if (bounded.aborted && running !== undefined) {
      strays.add();
      running.then(strays.ended, strays.ended);
    }
    // Whoever cancelled it has the message back, and what is thrown then is only the answer to that.
    if (!signal.aborted) surprises?.tell(`processor ${id}`, thrown, { envelope_id: envelope.id });
    return named(`processor ${id}`, thrown);
  }
}

/** The same failure, naming the part that failed. */
export function named(who: string, thrown: unknown): BridgeError {
  const { code, message, retryAfterMs, charged } = BridgeError.from(thrown);
  return new BridgeError(code, `${who}: ${message}`, { retryAfterMs, charged, cause: thrown });
}

/** The result of a processor, which may be any JavaScript; read once. */
function resultOf(result: unknown, before: Envelope): Envelope {
  if (typeof result === "object" && result !== null) {
    const { kind, envelope, reason } = result as { kind?: unknown; envelope?: unknown; reason?: unknown };
    if (kind === "pass") return envelope === before ? before : soundEnvelope(envelope);
    if (kind === "filter" && typeof reason === "string") throw new BridgeError("MESSAGE_FILTERED", reason);
  }
  throw new Error("did not answer with a result");
}
