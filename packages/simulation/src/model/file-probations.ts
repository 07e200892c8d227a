import type { ConfigProbations, LeftProbation, StoredConfig } from "@bridge/ports";
import type { Owner } from "../time/virtual-time.ts";
import type { DocumentSight } from "./document-sight.ts";
import type { Ask } from "./document-store.ts";
import type { KeptDocument, ProbationNote } from "./kept-document.ts";

export interface FileProbationsOptions {
  readonly kept: KeptDocument;
  readonly owner: Owner;
  readonly ask: Ask;
  readonly sight: DocumentSight;
  /** Its note is to be taken off. */
  readonly onEnd: () => void;
}

/** What is noted beside a file, as the adapter for files does it. */
export function fileProbations({ kept, owner, ask, sight, onEnd }: FileProbationsOptions): ConfigProbations {
  const { held } = kept;
  /** Of the probation that this process has begun or found last. */
  let own: Pick<ProbationNote, "tried" | "former"> | undefined;
  const left = (note: ProbationNote): LeftProbation => {
    const { probation, orderly, reversal } = note;
    const [former, tried] = [
      { ...note.former, places: probation.places?.former },
      { ...note.tried, places: probation.places?.tried },
    ];
    const isCurrent = kept.stored.revision === tried.revision;
    const said = reversal !== undefined && { reversal };
    return { probation, orderly, former, current: isCurrent ? kept.stored : undefined, tried, ...said };
  };
  const isThere = ({ tried, former, reversal }: ProbationNote): boolean => {
    const { revision } = kept.stored;
    return revision === tried.revision || (revision === former.revision && reversal !== undefined);
  };
  const find = (): Awaited<ReturnType<ConfigProbations["find"]>> => {
    const { note, away } = kept;
    if (note === undefined) return undefined;
    const { probation, tried, former, reversal, orderly } = note;
    if (!kept.noteLock.tryHold(owner)) return { probation, orderly, runs: true };
    own = { tried, former };
    const ended = { ...left(note), orderly: false, reversal: reversal ?? { why: "process_ended" } };
    if (away === "unreadable")
      return { ...ended, current: tried, hindered: { unreadable: "the document cannot be read" } };
    if (away !== undefined) {
      // What comes back later is not to be run unseen: the former one takes its place.
      held.restore(former);
      kept.noteWritten("put back in the place of none", former);
      return { ...ended, current: undefined };
    }
    return isThere(note) ? left(note) : { probation, former, tried, replacedBy: kept.stored };
  };
  return {
    async begin(document, expected, probation, signal) {
      signal.throwIfAborted();
      const work = async (): Promise<StoredConfig | undefined> => {
        const former = kept.stored;
        if (kept.away !== undefined || former.revision !== expected.revision) return undefined;
        if (!kept.noteLock.tryHold(owner)) return undefined;
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
        own = undefined;
        kept.noteLock.letGo(owner);
      });
    },
    elsewhere: (signal) =>
      ask(signal, async () => {
        const { note, away } = kept;
        if (own !== undefined || note === undefined || away !== undefined || !isThere(note)) return undefined;
        const { probation, orderly } = note;
        return { probation, orderly, runs: kept.noteLock.isHeldBeside(owner) };
      }),
  };
}
