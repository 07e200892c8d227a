import { BridgeError, type Processor, type SendOutcome } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Target } from "./target.ts";

/** How many sends a gate has let through that it was not told the end of, by whose it is. */
export type OpenSends = Map<Owner, number>;

export interface GateOptions {
  readonly target: Pick<Target, "down">;
  readonly auditor: Pick<Auditor, "violated">;
  readonly openSends: OpenSends;
}

/** One in so many sends goes through while the target is down, to see whether it still is. */
const PROBES = 3;

/** Lets most sends wait while their target is down, as a circuit breaker does, and has to hear how the others end. */
export function gate({ target, auditor, openSends }: GateOptions, owner: Owner): Required<Pick<Processor, "admit">> {
  let asked = 0;
  const add = (count: number): void => void openSends.set(owner, (openSends.get(owner) ?? 0) + count);
  return {
    admit(_, bindingId) {
      if (target.down !== undefined && ++asked % PROBES !== 0)
        return {
          kind: "refused",
          error: new BridgeError("UNAVAILABLE", `${bindingId} is down`, { retryAfterMs: 1_000, charged: false }),
        };
      let end: SendOutcome["kind"] | undefined;
      add(1);
      return {
        kind: "admitted",
        ended: ({ kind }) => {
          if (end !== undefined) auditor.violated(`a gate is told that a send is ${kind}, which was ${end}`);
          else add(-1);
          end = kind;
        },
      };
    },
  };
}
