import type { BridgeConfig } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore } from "@bridge/ports";
import { BoundingClock } from "../support/bounding-clock.ts";
import type { MemoryBridge } from "../support/memory-bridge.ts";
import { fill, started } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** What a table of a database is asked for. */
export const TABLES = {
  entries: ["get", "page", "put", "marks.mark", "admin.delete", "admin.trash.move", "admin.trash.restore"],
  trash: ["admin.trash.move", "admin.trash.restore", "admin.trash.count"],
  jobs: ["jobs.get", "jobs.put", "jobs.list"],
} as const;

/** A bridge over a store of which calls can be left without an answer, as if somebody had locked tables. */
export interface LockedWorld {
  readonly bridge: MemoryBridge;
  /** As others see it, whom nothing is locked for. */
  readonly unlocked: Pick<Required<DlqStore>, "jobs">;
  readonly lock: (calls: Iterable<string>) => void;
  /** What was left without an answer comes to nothing. */
  readonly unlock: () => void;
  /** What was left without an answer is carried out, late. */
  readonly thaw: () => void;
}

export async function lockedWorld(
  entries: number,
  config: (own: BridgeConfig) => BridgeConfig = (own) => own,
): Promise<LockedWorld> {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 100_000, clock });
  const locked = new Set<string>();
  const held: PromiseWithResolvers<void>[] = [];
  const store = seenDlq(dlq, (name) => {
    if (!locked.has(name)) return undefined;
    const answer = Promise.withResolvers<void>();
    held.push(answer);
    return answer.promise;
  });
  const bridge = await started({ clock, dlq: store, config });
  await fill(dlq, entries);
  return {
    bridge,
    unlocked: dlq,
    lock: (calls) => {
      for (const call of calls) locked.add(call);
    },
    unlock: () => {
      locked.clear();
      for (const { reject } of held.splice(0)) reject(new BridgeError("TIMEOUT", "no answer in time"));
    },
    thaw: () => {
      locked.clear();
      for (const { resolve } of held.splice(0)) resolve();
    },
  };
}
