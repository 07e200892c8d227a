import { samePlaces } from "@bridge/config";
import type { ConfigDepartures, StoredConfig } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import type { Ask } from "./document-store.ts";
import type { KeptDocument, Leaving } from "./kept-document.ts";
import { ProcessLock } from "./process-lock.ts";

/** What the adapter for files keeps beside the file while a change leaves stores, as one process has it. */
export function fileDepartures(kept: KeptDocument, owner: Owner, ask: Ask): ConfigDepartures {
  const { trace } = kept.options;
  /** What this process has remembered: nothing else is replaced or forgotten unasked. */
  const own = new Set<Leaving>();
  const take = (left: Leaving): void => {
    kept.leaving.delete(left);
    own.delete(left);
  };
  const find = (found: StoredConfig): Leaving | undefined =>
    [...kept.leaving].find(({ former }) => isSame(former, found));
  return {
    remember: (former, signal, places) =>
      ask(signal, async () => {
        const next = { ...former, places };
        const same = find(next);
        const others = [...kept.leaving].filter((left) => left !== same && !own.has(left));
        const inTheWay = others.find((left) => samePlaces(left.former.places, places));
        if (inTheWay !== undefined)
          throw new Error(`version ${inTheWay.former.version} is remembered, which does not come from this process`);
        for (const left of own) if (left !== same) take(left);
        const left = same ?? { former: next, lock: new ProcessLock() };
        own.add(left);
        // Without it, what is remembered is taken for the past of whoever asks.
        left.lock.tryHold(owner);
        if (same !== undefined) return;
        kept.leaving.add(left);
        trace.add(`document: version ${former.version} is remembered`);
      }),
    async *find(signal) {
      yield* await ask(signal, async () => [...kept.leaving].map(({ former }) => former));
    },
    forget: (signal, found) =>
      ask(signal, async () => {
        const due = found === undefined ? [...own] : [find(found)];
        for (const left of due) {
          if (left === undefined || !kept.leaving.has(left)) continue;
          trace.add(`document: version ${left.former.version} is forgotten`);
          take(left);
        }
        if (found === undefined) own.clear();
      }),
    elsewhere: (found, signal) => ask(signal, async () => find(found)?.lock.isHeldBeside(owner) === true),
  };
}

function isSame(one: StoredConfig, other: StoredConfig): boolean {
  return one.revision === other.revision && samePlaces(one.places, other.places);
}
