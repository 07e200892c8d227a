import { BridgeError, type Sender } from "@bridge/ports";
import { targetIn } from "../plan/looks-at.ts";
import type { Plan } from "../plan/plan.ts";
import type { Auditor } from "../run/auditor.ts";
import type { SendsSeen } from "../run/sends-seen.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";
import { numberIn } from "./broker-session.ts";
import { FORGED } from "./dressed.ts";
import { hasNoTarget } from "./publication.ts";

export interface Onlookers {
  readonly auditor: Auditor;
  readonly plan: Plan;
  readonly sends: SendsSeen;
  readonly time: VirtualTime;
}

/** The same sender, at which somebody looks on. */
export function seenSender(sender: Sender, owner: Owner, { auditor, plan, sends, time }: Onlookers): Sender {
  return {
    send(envelope, written, signal, attempt) {
      const address = targetIn(written);
      const number = numberIn(envelope.payload);
      if (Object.values(envelope.headers).includes(FORGED))
        auditor.violated(`message ${number} was sent with a header that is the bridge's own`);
      const message = plan.messages[number];
      if (message !== undefined && hasNoTarget(message, plan.looksAt))
        auditor.violated(`message ${number} was sent to ${written}, and nothing in it says where it is to go`);
      const since = time.now;
      const ended = sends.begins(owner, address, envelope, signal);
      const sent = sender.send(envelope, address, signal, attempt);
      const end = (error: unknown): void => {
        ended(error);
        // What was given up is nobody's any more, and whoever stood still could not give it up.
        const isAnswered = error === undefined || BridgeError.is(error);
        if (isAnswered && owner.alive && (owner.thawedAt ?? -1) < since) auditor.targets.ends(owner, number, address);
      };
      sent.then(() => end(undefined), end);
      return sent;
    },
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}
