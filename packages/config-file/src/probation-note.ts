import { open, rm } from "node:fs/promises";
import type { Probation, Reversal } from "@bridge/ports";
import { MAX_FILE_BYTES } from "./content.ts";
import { probationOf } from "./drafts.ts";
import { MissingFileError, readText } from "./read-text.ts";
import { replaceFile, syncFolderOf } from "./replace-file.ts";

const FORMAT = 1;

/** As it is added to a note. */
interface Added extends Reversal, Pick<Probation, "confirmBy" | "withinMs" | "emptied"> {
  readonly orderly: boolean;
  readonly stored: boolean;
}

/** Two documents as base64, and what is said of them. */
const MAX_NOTE_BYTES = 3 * MAX_FILE_BYTES;
/** Kept free at the end of a note. */
const ROOM_BYTES = 4 * 1024;
const NEWLINE = 0x0a;

/** What is written down of a probation. */
export interface ProbationNote {
  readonly probation: Probation;
  /** Names the exact content that is on probation. */
  readonly revision: string;
  readonly former: { readonly revision: string; readonly bytes: Uint8Array };
  /** What is on probation; absent in a note by an older release of what was not stored. */
  readonly tried?: Uint8Array | undefined;
  /** Whether that is known to have been stored. */
  readonly stored: boolean;
  readonly orderly: boolean;
  readonly reversal?: Reversal | undefined;
}

/** How it stands with a probation: all of it that may change while it lasts. */
export type Standing = Pick<ProbationNote, "probation" | "orderly" | "reversal" | "stored">;

/** Only one caller at a time may do this for one document. */
export async function writeNote(target: string, note: ProbationNote, signal: AbortSignal): Promise<void> {
  const former = { ...note.former, bytes: Buffer.from(note.former.bytes).toString("base64") };
  const tried = note.tried && Buffer.from(note.tried).toString("base64");
  const text = JSON.stringify({ format: FORMAT, ...note, former, tried });
  await replaceFile(probationOf(target), Buffer.from(`${text}\n${" ".repeat(ROOM_BYTES)}\n`), signal);
}

/**
 * Adds to a note how it stands with its probation now, within the room that is kept for it: a full disk, or a folder
 * that may not be written, is in the way of {@link writeNote} and not of this. Only who has the lock of the note may do
 * this.
 */
export async function addStanding(target: string, { probation, orderly, reversal, stored }: Standing): Promise<void> {
  await using handle = await open(probationOf(target), "r+");
  const room = Buffer.alloc(ROOM_BYTES + 2);
  const at = (await handle.stat()).size - room.length;
  await handle.read(room, 0, room.length, Math.max(0, at));
  if (at <= 0 || room.at(0) !== NEWLINE || room.at(-1) !== NEWLINE) throw new Error("the note has no room");
  const { confirmBy, withinMs, emptied } = probation;
  const standing = { orderly, stored, confirmBy, withinMs, emptied };
  const whole = Buffer.from(JSON.stringify({ ...standing, ...reversal }));
  const said = whole.length <= ROOM_BYTES ? whole : Buffer.from(JSON.stringify({ ...standing, why: reversal?.why }));
  room.fill(" ", 1, 1 + ROOM_BYTES);
  said.copy(room, 1);
  await handle.write(room, 0, room.length, at);
  await handle.sync();
}

/** @throws Error naming the file and the remedy when it cannot be read */
export async function readNote(target: string, signal: AbortSignal): Promise<ProbationNote | undefined> {
  const path = probationOf(target);
  try {
    const [text = "", added = ""] = (await readText(path, MAX_NOTE_BYTES, signal)).split("\n");
    const read = JSON.parse(text) as Omit<ProbationNote, "former" | "tried" | "stored"> & {
      readonly stored?: boolean;
      readonly format: unknown;
      readonly former: { readonly revision: string; readonly bytes: string };
      readonly tried?: string;
    };
    if (read.format !== FORMAT) throw new Error("it is of another format");
    const { revision, bytes } = read.former;
    const former = { revision, bytes: Buffer.from(bytes, "base64") };
    const tried = read.tried === undefined ? undefined : Buffer.from(read.tried, "base64");
    const isStored = read.stored ?? tried !== undefined;
    return { ...withStanding({ ...read, stored: isStored }, added), former, tried };
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

/** What a crash has cut off of it says nothing. */
function withStanding<Note extends Standing>(note: Note, added: string): Note {
  try {
    const { why, detail, orderly, stored, confirmBy, withinMs, emptied } = JSON.parse(added) as Partial<Added>;
    const reversal = why === undefined ? note.reversal : { why, ...(detail !== undefined && { detail }) };
    const probation = {
      ...note.probation,
      ...(confirmBy !== undefined && { confirmBy }),
      ...(withinMs !== undefined && { withinMs }),
      ...(emptied !== undefined && { emptied }),
    };
    const said = { orderly: orderly ?? note.orderly, stored: stored ?? note.stored };
    return { ...note, probation, ...said, ...(reversal !== undefined && { reversal }) };
  } catch {
    return note;
  }
}

export async function removeNote(target: string): Promise<void> {
  const path = probationOf(target);
  await rm(path, { force: true });
  await syncFolderOf(path);
}
