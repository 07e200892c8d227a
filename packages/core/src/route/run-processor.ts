import { BridgeError, deadline, type Envelope, orAborted, type ProcessorResult } from "@bridge/ports";
import type { NamedProcessor } from "./route-parts.ts";

/**
 * What one processor makes of a message: the message that goes on, or the error to fail it by, which names the
 * processor. One that throws, does not end in time or answers with something else has failed.
 */
export async function runProcessor(
  { id, processor }: NamedProcessor,
  envelope: Envelope,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Envelope | BridgeError> {
  using bound = deadline(timeoutMs, new BridgeError("TIMEOUT", `did not end within ${timeoutMs} ms`));
  const bounded = AbortSignal.any([signal, bound.signal]);
  try {
    const result = await orAborted(Promise.resolve(processor.process(envelope, bounded)), bounded);
    if (!isResult(result)) throw new BridgeError("INTERNAL", "did not answer with a result");
    if (result.kind === "pass") return result.envelope;
    throw new BridgeError("MESSAGE_FILTERED", result.reason);
  } catch (thrown) {
    return named(`processor ${id}`, thrown);
  }
}

/** The same failure, saying who failed. */
export function named(who: string, thrown: unknown): BridgeError {
  const { code, message, retryAfterMs, charged } = BridgeError.from(thrown);
  return new BridgeError(code, `${who}: ${message}`, { retryAfterMs, charged, cause: thrown });
}

/** Whether a processor, which may be anybody's JavaScript, kept to its port. */
function isResult(result: unknown): result is ProcessorResult {
  if (typeof result !== "object" || result === null || !("kind" in result)) return false;
  if (result.kind === "filter") return "reason" in result && typeof result.reason === "string";
  return result.kind === "pass" && "envelope" in result && isEnvelope(result.envelope);
}

function isEnvelope(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, subject, payload, headers } = value as Partial<Record<keyof Envelope, unknown>>;
  return (
    typeof id === "string" &&
    typeof subject === "string" &&
    payload instanceof Uint8Array &&
    typeof headers === "object" &&
    headers !== null &&
    Object.values(headers).every((header) => typeof header === "string")
  );
}
