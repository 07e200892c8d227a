import type {
  ConfigProbations,
  LeftProbation,
  Probation,
  ProbationBeside,
  ReplacedProbation,
  StoredConfig,
} from "@bridge/ports";
import type { Content, StoredContent } from "./content.ts";
import type { FileAccess } from "./file-access.ts";
import { isUnlockable, lockOf } from "./probation-lock.ts";
import { addStanding, type ProbationNote, readNote, removeNote, writeNote } from "./probation-note.ts";
import { replaceFile } from "./replace-file.ts";

type Found = LeftProbation | ReplacedProbation | ProbationBeside;

/**
 * Writes a document; `before` is done when all is ready to be written, is given what it replaces and what it is, and
 * says whether it may be.
 */
export type WriteWith = (
  document: StoredConfig["document"],
  expected: StoredConfig,
  signal: AbortSignal,
  text: string | undefined,
  before: (target: string, former: StoredContent, next: StoredContent) => Promise<boolean>,
) => Promise<StoredConfig | undefined>;

/**
 * Locks of this process by the files that have something on probation here, lest another process takes that back as
 * left by one that has ended. They are the operating system's, and end with the process.
 */
const HELD = new Map<string, Disposable>();

/** What is noted beside a file of a document that is on probation. */
export class FileProbations implements ConfigProbations, Disposable {
  readonly #file: FileAccess;
  readonly #write: WriteWith;
  /** What this process holds for it. */
  #held: string | undefined;
  /** Of the probation that was begun or found last. */
  #note: Omit<ProbationNote, "probation" | "orderly" | "reversal"> | undefined;

  constructor(file: FileAccess, write: WriteWith) {
    this.#file = file;
    this.#write = write;
  }

  async begin(
    document: StoredConfig["document"],
    expected: StoredConfig,
    probation: Probation,
    signal: AbortSignal,
    text?: string,
  ): Promise<StoredConfig | undefined> {
    const written = await this.#write(document, expected, signal, text, async (target, former, next) => {
      // What cannot be read may be all that says what was on probation.
      await readNote(target, signal);
      if (!this.#tryHold(target)) return false;
      const [back, tried] = [{ revision: former.identity, bytes: former.bytes }, next.bytes];
      this.#note = { revision: next.identity, former: back, tried, stored: false };
      await writeNote(target, { ...this.#note, probation, orderly: false }, signal);
      return true;
    });
    if (written === undefined) await this.end(signal);
    else if (this.#note !== undefined && this.#held !== undefined) {
      // What was never stored was never tried out, and nobody has to be told of it.
      this.#note = { ...this.#note, stored: true };
      await addStanding(this.#held, { probation, orderly: false, stored: true }).catch(() => {
        // It can be taken back all the same.
      });
    }
    return written;
  }

  async find(signal: AbortSignal): Promise<Found | undefined> {
    try {
      return await this.#file.alone(
        signal,
        (target) => this.#left(target, signal),
        async () => this.#left(await this.#file.place(), signal),
      );
    } catch (error) {
      signal.throwIfAborted();
      // Who may not write, or has no room, can still read what to run.
      const why = error instanceof Error ? error.message : String(error);
      return this.#left(await this.#file.place(), signal, why);
    }
  }

  async note(standing: Pick<LeftProbation, "probation" | "orderly" | "reversal">, signal: AbortSignal): Promise<void> {
    const note = this.#note;
    const held = this.#held;
    if (note === undefined || held === undefined) throw new TypeError("no probation was begun or found");
    const write = (target: string): Promise<void> => writeNote(target, { ...note, ...standing }, signal);
    try {
      await this.#file.alone(signal, write, async () => write(await this.#file.place()));
    } catch (error) {
      signal.throwIfAborted();
      // What keeps the file from being replaced is what whoever has to mend it is to read.
      await addStanding(held, { ...standing, stored: note.stored }).catch(() => Promise.reject(error));
    }
  }

  async end(signal: AbortSignal): Promise<void> {
    // A note without the lock is another process's, which goes back by it when it is killed.
    if (this.#held === undefined) return;
    const forget = async (target: string): Promise<void> => {
      await removeNote(target);
      this[Symbol.dispose]();
    };
    await this.#file.alone(signal, forget, () => this[Symbol.dispose]());
  }

  async elsewhere(signal: AbortSignal): Promise<ProbationBeside | undefined> {
    if (this.#held !== undefined) return undefined;
    const target = await this.#file.place();
    const note = await readNote(target, signal);
    if (note === undefined) return undefined;
    const content = await this.#file.read(signal);
    const { probation, orderly } = note;
    const runs = HELD.has(target) || (await isUnlockable(target));
    if (content.identity === note.revision || isPutBack(note, content)) return { probation, orderly, runs };
    const isReplaced = content.kind === "stored" && !isEmpty(content) && wasTried(note, content);
    return isReplaced && !runs ? { probation, orderly, runs, replaced: true } : undefined;
  }

  /** Lets go of what is on probation: the next process settles it. */
  [Symbol.dispose](): void {
    if (this.#held === undefined) return;
    HELD.get(this.#held)?.[Symbol.dispose]();
    HELD.delete(this.#held);
    this.#held = undefined;
  }

  /** Whether no other process has anything on probation; none can begin anything then. */
  #tryHold(target: string): boolean {
    const lock = HELD.get(target) ?? lockOf(target);
    if (lock === undefined) return false;
    HELD.set(target, lock);
    this.#held = target;
    return true;
  }

  /**
   * What is found is what the next notes are about. Where there is no document, or nothing in it, what comes next may
   * be what was on probation, which would then stay for good: the former one takes its place before anything is run.
   * One that cannot be read stays, as whoever broke it may mend it.
   *
   * @param hindrance why nothing is to be written. Default: it is
   */
  async #left(target: string, signal: AbortSignal, hindrance?: string): Promise<Found | undefined> {
    const note = await readNote(target, signal);
    if (note === undefined) return undefined;
    const { probation, revision, orderly, reversal } = note;
    const { version } = probation;
    if (!this.#tryHold(target)) return { probation, orderly, runs: true };
    const content = await this.#file.read(signal);
    const stands = standingOf(note, content);
    if (stands === "replaced" && !wasTried(note, content)) {
      if (hindrance === undefined) await removeNote(target);
      this[Symbol.dispose]();
      return undefined;
    }
    this.#note = { revision, former: note.former, tried: note.tried, stored: true };
    const { stored: former } = await this.#file.former(
      note.former.bytes,
      `what came before version ${version}`,
      signal,
      probation.places?.former,
    );
    const what = `version ${version}, which was on probation,`;
    const tried = note.tried && (await this.#file.former(note.tried, what, signal, probation.places?.tried)).stored;
    const left = { probation, former, tried, orderly, ...(reversal !== undefined && { reversal }) };
    if (stands === "tried" && content.kind === "stored")
      return { ...left, current: content.stored, tried: tried ?? content.stored };
    if (stands === "back") return { ...left, current: undefined };
    if (stands === "replaced" && content.kind === "stored" && tried !== undefined) {
      if (hindrance !== undefined) this[Symbol.dispose]();
      return { probation, former, tried, replacedBy: content.stored };
    }
    const ended = { ...left, orderly: false, reversal: reversal ?? { why: "process_ended" } };
    const current = tried ?? { version, revision, document: {} };
    if (content.kind === "unreadable") return { ...ended, current, hindered: { unreadable: content.error.message } };
    if (hindrance !== undefined) return { ...ended, current, hindered: { unwritable: hindrance } };
    await replaceFile(target, note.former.bytes, signal);
    return { ...ended, current: undefined };
  }
}

/** Whether it is not known that it was never stored: then the process died, or its disk, before it noted that. */
function wasTried({ tried, stored, former }: ProbationNote, { identity }: Content): boolean {
  return tried !== undefined && (stored || identity !== former.revision);
}

type Stands = "tried" | "back" | "replaced" | "unusable";

/** What stands where a document was noted to be tried out. */
function standingOf(note: ProbationNote, content: Content): Stands {
  if (content.kind !== "stored" || isEmpty(content)) return "unusable";
  if (content.identity === note.revision) return "tried";
  // Else it was noted, and then the process died before it wrote; or another hand has written since.
  return isPutBack(note, content) ? "back" : "replaced";
}

function isPutBack({ former, reversal }: ProbationNote, { identity }: Content): boolean {
  return identity === former.revision && reversal !== undefined;
}

function isEmpty(content: Content): boolean {
  return content.kind === "stored" && Object.keys(content.stored.document).length === 0;
}
