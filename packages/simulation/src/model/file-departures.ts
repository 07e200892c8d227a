import { isDeepStrictEqual } from "node:util";
import type { ConfigDepartures } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import type { Ask } from "./document-store.ts";
import type { KeptDocument } from "./kept-document.ts";

/** What the adapter for files keeps beside the file while a change leaves stores, as one process has it. */
export function fileDepartures(kept: KeptDocument, owner: Owner, ask: Ask): ConfigDepartures {
  const { trace } = kept.options;
  /** The revisions that this process has remembered: nothing else is replaced or forgotten unasked. */
  const own = new Set<string>();
  return {
    remember: (former, signal, places) =>
      ask(signal, async () => {
        const { revision } = former;
        const { leaving } = kept;
        if (leaving !== undefined && leaving.revision !== revision && !own.has(leaving.revision))
          throw new Error(`version ${leaving.version} is remembered, which does not come from this process`);
        own.clear();
        own.add(revision);
        // Without it, what is remembered is taken for the past of whoever asks.
        kept.leavingLock.tryHold(owner);
        if (leaving?.revision === revision && isDeepStrictEqual(leaving.places, places)) return;
        kept.leaving = { ...former, places };
        trace.add(`document: version ${former.version} is remembered`);
      }),
    find: (signal) => ask(signal, async () => kept.leaving),
    forget: (signal, found) =>
      ask(signal, async () => {
        if (found === undefined) kept.leavingLock.letGo(owner);
        const { leaving } = kept;
        if (leaving === undefined) return;
        if (found === undefined ? !own.has(leaving.revision) : leaving.revision !== found.revision) return;
        trace.add(`document: version ${leaving.version} is forgotten`);
        kept.leaving = undefined;
        if (found === undefined) own.clear();
      }),
    elsewhere: (signal) => ask(signal, async () => kept.leavingLock.isHeldBeside(owner)),
  };
}
