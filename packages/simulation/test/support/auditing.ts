import { BridgeError, type DeadLetter } from "@bridge/ports";
import { draw, type Plan } from "../../src/index.ts";
import { Auditor } from "../../src/run/auditor.ts";

export const DELIVERED = { kind: "accept", outcome: "delivered", envelopeId: "m-0" } as const;

/** One message to one binding, published and handed out. */
export function auditing(changes: Partial<Plan> = {}): Auditor {
  const { outbox: _, looksAt: __, ...drawn } = draw(1);
  const { loanMs: ___, ...broker } = drawn.broker;
  const own = { bindings: ["out"], messages: [{ number: 0, at: 0 }], drops: false, maxReplayAttempts: 3 };
  const plan = { ...drawn, ...own, broker };
  const auditor = new Auditor({ ...plan, ...changes });
  auditor.source.published(0);
  auditor.source.handedOut(0);
  return auditor;
}

export const letter = { bindingId: "out", attempts: 1, errorCode: "TIMEOUT" } as DeadLetter;
export const timeout = new BridgeError("TIMEOUT", "late");
