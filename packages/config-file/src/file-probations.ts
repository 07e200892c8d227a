import type { ConfigProbations, LeftProbation, Probation, StoredConfig } from "@bridge/ports";
import type { StoredContent } from "./content.ts";
import type { FileAccess } from "./file-access.ts";
import { tryLockFile } from "@bridge/file/internal";
import { probationOf } from "./drafts.ts";
import { type ProbationNote, readNote, removeNote, writeNote } from "./probation-note.ts";
import { replaceFile } from "./replace-file.ts";

/** Writes a document; `before` is done when all is ready to be written, and is given what it replaces and what it is. */
export type WriteWith = (
  document: StoredConfig["document"],
  expected: StoredConfig,
  signal: AbortSignal,
  text: string | undefined,
  before: (target: string, former: StoredContent, next: StoredContent) => Promise<void>,
) => Promise<StoredConfig | undefined>;

/**
 * Locks of this process by the files that have something on probation here, lest another process takes that back as left by one that has
 * ended. They are the operating system's, and end with the process.
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
      this.#hold(target);
      this.#note = { revision: next.identity, former: { revision: former.identity, bytes: former.bytes } };
      await writeNote(target, { ...this.#note, probation, orderly: false }, signal);
    });
    if (written === undefined && this.#held !== undefined) await this.end(signal);
    return written;
  }

  async find(signal: AbortSignal): Promise<LeftProbation | undefined> {
    return this.#file.alone(
      signal,
      (target) => this.#left(target, signal),
      async () => this.#putBack(await this.#file.place(), signal),
    );
  }

  async note(standing: Pick<LeftProbation, "probation" | "orderly" | "reversal">, signal: AbortSignal): Promise<void> {
    const note = this.#note;
    if (note === undefined) throw new TypeError("no probation was begun or found");
    const write = (target: string): Promise<void> => writeNote(target, { ...note, ...standing }, signal);
    await this.#file.alone(signal, write, async () => write(await this.#file.place()));
  }

  async end(signal: AbortSignal): Promise<void> {
    await this.#file.alone(signal, removeNote, () => {});
    this[Symbol.dispose]();
  }

  /** Lets go of what is on probation: the next process settles it. */
  [Symbol.dispose](): void {
    if (this.#held === undefined) return;
    HELD.get(this.#held)?.[Symbol.dispose]();
    HELD.delete(this.#held);
    this.#held = undefined;
  }

  #hold(target: string): void {
    const lock = HELD.get(target) ?? tryLockFile(probationOf(target));
    if (lock === undefined)
      throw new Error(
        `${this.#file.source} has a change on probation in another process, which runs: stop that one, or confirm or revert the change there`,
      );
    HELD.set(target, lock);
    this.#held = target;
  }

  /** What is found is what the next notes are about. */
  async #left(target: string, signal: AbortSignal): Promise<LeftProbation | undefined> {
    const note = await readNote(target, signal);
    if (note === undefined) return undefined;
    this.#hold(target);
    const content = await this.#file.read(signal);
    if (content.kind === "stored" && Object.keys(content.stored.document).length === 0)
      return this.#putBack(target, signal);
    const { probation, revision, former, orderly, reversal } = note;
    const isCurrent = content.kind === "stored" && content.identity === revision;
    // It was noted, and then the process died before it wrote; or another hand has written since.
    const isBack = content.identity === former.revision && reversal !== undefined;
    if (!isCurrent && !isBack) {
      if (content.kind !== "unreadable") await removeNote(target);
      this[Symbol.dispose]();
      return undefined;
    }
    this.#note = { revision, former };
    const back = await this.#file.former(former.bytes, `what came before version ${probation.version}`, signal);
    return {
      probation,
      former: back.stored,
      current: isCurrent ? content.stored : undefined,
      orderly,
      ...(reversal !== undefined && { reversal }),
    };
  }

  /**
   * There is no document, or nothing in it. What comes next may be what was on probation, which would then stay for good: the former
   * one takes its place before anything is run.
   */
  async #putBack(target: string, signal: AbortSignal): Promise<LeftProbation | undefined> {
    const note = await readNote(target, signal);
    if (note === undefined) return undefined;
    this.#hold(target);
    const { probation, revision, former, reversal = { why: "process_ended" } } = note;
    this.#note = { revision, former };
    const back = await this.#file.former(former.bytes, `what came before version ${probation.version}`, signal);
    await replaceFile(target, former.bytes, signal);
    return { probation, former: back.stored, current: undefined, orderly: false, reversal };
  }
}
