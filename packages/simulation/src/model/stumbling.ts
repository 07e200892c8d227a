import { BridgeError, type Processor } from "@bridge/ports";
import type { Plan } from "../plan/plan.ts";
import type { Auditor } from "../run/auditor.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";
import { numberIn } from "./broker-session.ts";
import type { LateCalls } from "./late-calls.ts";

/** How long after its abort a late call ends. */
const LATE_MS = 30_000;

export interface StumblingOptions {
  readonly plan: Plan;
  readonly auditor: Auditor;
  readonly time: VirtualTime;
  /** By message: how often it was stumbled over. */
  readonly stumbles: Map<number, number>;
  readonly lateCalls: LateCalls;
}

/** A processor as any user may write it: fails for some messages, and does not end for others. */
export function stumbling(processor: Processor, owner: Owner, options: StumblingOptions): Processor {
  const { plan, auditor, time, stumbles, lateCalls } = options;
  return {
    process(envelope, signal) {
      const number = numberIn(envelope.payload);
      const { how, times = 0 } = plan.messages[number]?.stumbles ?? {};
      const before = stumbles.get(number) ?? 0;
      const isOver = time.now > plan.calmAt && how !== "refuses";
      if (how === undefined || before >= times || isOver) {
        auditor.source.passed(number);
        return processor.process(envelope, signal);
      }
      stumbles.set(number, before + 1);
      const failed = <Thrown>(thrown: Thrown): Thrown => {
        if (owner.alive) auditor.source.stumbled(number, BridgeError.from(thrown));
        return thrown;
      };
      switch (how) {
        case "throws":
          throw failed(new TypeError("the processor has a fault"));
        case "refuses":
          throw failed(new BridgeError("SCHEMA_VIOLATION", "the processor does not like it"));
        case "answers nothing":
          failed(new Error("no answer"));
          return undefined as never;
        case "ends when it is told to":
        case "ends late":
          return new Promise((_, reject) => {
            const end = (): void => {
              failed(new BridgeError("TIMEOUT", "given up"));
              if (how === "ends when it is told to") return reject(signal.reason as Error);
              lateCalls.begins(owner);
              time.reach(owner, time.now + LATE_MS, () => {
                lateCalls.ends(owner);
                reject(new Error("too late"));
              });
            };
            signal.addEventListener("abort", end, { once: true });
          });
      }
    },
  };
}
