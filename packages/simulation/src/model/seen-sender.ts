import { BridgeError, type Sender } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import type { SendsSeen } from "../run/sends-seen.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";
import { numberIn } from "./broker-session.ts";

export interface Onlookers {
  readonly auditor: Auditor;
  readonly sends: SendsSeen;
  readonly time: VirtualTime;
}

/** The same sender, at which somebody looks on. */
export function seenSender(sender: Sender, owner: Owner, { auditor, sends, time }: Onlookers): Sender {
  return {
    send(envelope, address, signal, attempt) {
      const since = time.now;
      const ended = sends.begins(owner, address, envelope, signal);
      const sent = sender.send(envelope, address, signal, attempt);
      const end = (error: unknown): void => {
        ended(error);
        // What was given up is nobody's any more, and whoever stood still could not give it up.
        const isAnswered = error === undefined || BridgeError.is(error);
        if (isAnswered && owner.alive && (owner.thawedAt ?? -1) < since)
          auditor.targets.ends(owner, numberIn(envelope.payload), address);
      };
      sent.then(() => end(undefined), end);
      return sent;
    },
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}
