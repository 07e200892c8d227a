import type { ConfigProbations, LeftProbation, ReplacedProbation, StoredConfig } from "@bridge/ports";
import type { DocumentSight } from "./document-sight.ts";
import type { Ask } from "./document-store.ts";
import type { KeptDocument, ProbationNote } from "./kept-document.ts";

/** What is noted beside a file, as the adapter for files does it. `onEnd`: its note is to be taken off. */
export function fileProbations(
  kept: KeptDocument,
  ask: Ask,
  sight: DocumentSight,
  onEnd: () => void,
): ConfigProbations {
  const { held } = kept;
  /** Of the probation that this process has begun or found last. */
  let own: Pick<ProbationNote, "tried" | "former"> | undefined;
  const left = (note: ProbationNote): LeftProbation => {
    const { probation, orderly, reversal, former, tried } = note;
    const isCurrent = kept.stored.revision === tried.revision;
    const said = reversal !== undefined && { reversal };
    return { probation, orderly, former, current: isCurrent ? kept.stored : undefined, ...said };
  };
  const find = (): LeftProbation | ReplacedProbation | undefined => {
    const { note, away } = kept;
    if (note === undefined || away === "unreadable") return undefined;
    const { probation, tried, former, reversal } = note;
    own = { tried, former };
    if (away !== undefined) {
      // What comes back later is not to be run unseen: the former one takes its place.
      held.restore(former);
      kept.noteWritten("put back in the place of none", former);
      return { ...left(note), current: undefined, orderly: false, reversal: reversal ?? { why: "process_ended" } };
    }
    const { stored } = kept;
    if (stored.revision === tried.revision || (stored.revision === former.revision && reversal !== undefined))
      return left(note);
    return { probation, tried, replacedBy: stored };
  };
  return {
    async begin(document, expected, probation, signal) {
      signal.throwIfAborted();
      const work = async (): Promise<StoredConfig | undefined> => {
        const former = kept.stored;
        if (kept.away !== undefined || former.revision !== expected.revision) return undefined;
        const current = held.write(document, expected.version + 1);
        kept.noteWritten("written to be tried out", current);
        kept.noteTried(current, probation.confirmBy);
        own = { tried: current, former };
        kept.note = { ...own, probation, orderly: false };
        return current;
      };
      return sight.writing(
        () => ask(signal, work),
        (begun) => begun?.revision,
      );
    },
    find: (signal) => ask(signal, async () => find()),
    note: (standing, signal) =>
      ask(signal, async () => {
        if (own === undefined) throw new TypeError("no probation was begun or found");
        kept.note = { ...own, ...standing };
      }),
    end: async (signal) => {
      if (own === undefined) return;
      onEnd();
      await ask(signal, async () => {
        const { note } = kept;
        if (note?.tried.revision === kept.stored.revision) kept.options.auditor.documents.stays(note.probation.version);
        kept.note = undefined;
      });
    },
  };
}
