import { BridgeError, type SendOutcome, type Span } from "@bridge/ports";
import { Cancelled } from "./send-guards.ts";

/** How a send ended; `thrown` is `undefined` if the target accepted it. */
export function sendOutcome(thrown: unknown): SendOutcome {
  if (thrown === undefined) return { kind: "accepted" };
  return thrown instanceof Cancelled ? { kind: "cancelled" } : { kind: "failed", error: BridgeError.from(thrown) };
}

/** Ends the span with that outcome. */
export function endSend(span: Span | undefined, thrown: unknown): void {
  if (span === undefined) return;
  const { kind, error }: { readonly kind: SendOutcome["kind"]; readonly error?: BridgeError } = sendOutcome(thrown);
  span.end(kind, error);
}
