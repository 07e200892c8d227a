import { rm } from "node:fs/promises";
import type { Probation, Reversal } from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { probationOf } from "./drafts.ts";
import { MissingFileError, readText } from "./read-text.ts";
import { replaceFile, syncFolderOf } from "./replace-file.ts";

const FORMAT = 1;
/** A document as base64, and what is said of it. */
const MAX_NOTE_BYTES = 2 * MAX_FILE_BYTES;

/** What is written down of a probation. */
export interface ProbationNote {
  readonly probation: Probation;
  /** Names the exact content that is on probation. */
  readonly revision: string;
  readonly former: { readonly revision: string; readonly bytes: Uint8Array };
  readonly orderly: boolean;
  readonly reversal?: Reversal | undefined;
}

/** Only one caller at a time may do this for one document. */
export async function writeNote(target: string, note: ProbationNote, signal: AbortSignal): Promise<void> {
  const former = { ...note.former, bytes: Buffer.from(note.former.bytes).toString("base64") };
  const text = JSON.stringify({ format: FORMAT, ...note, former });
  await replaceFile(probationOf(target), Buffer.from(`${text}\n`), signal);
}

/** @throws Error naming the file and the remedy when it cannot be read */
export async function readNote(target: string, signal: AbortSignal): Promise<ProbationNote | undefined> {
  const path = probationOf(target);
  try {
    const read = JSON.parse(await readText(path, MAX_NOTE_BYTES, signal)) as Omit<ProbationNote, "former"> & {
      readonly format: unknown;
      readonly former: { readonly revision: string; readonly bytes: string };
    };
    if (read.format !== FORMAT) throw new Error("it is of another format");
    const { revision, bytes } = read.former;
    return { ...read, former: { revision, bytes: Buffer.from(bytes, "base64") } };
  } catch (error) {
    if (error instanceof MissingFileError) return undefined;
    signal.throwIfAborted();
    // The engine's message may quote the text.
    const why =
      error instanceof Error && !(error instanceof SyntaxError) ? error.message : "it is no note of a probation";
    throw new Error(`${path}: ${why}: look whether the configuration is the one that is wanted, and remove this file`, {
      cause: error,
    });
  }
}

export async function removeNote(target: string): Promise<void> {
  const path = probationOf(target);
  await rm(path, { force: true });
  await syncFolderOf(path);
}
