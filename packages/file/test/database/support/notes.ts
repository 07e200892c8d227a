import { fdatasyncSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { silentLogger, systemClock } from "@bridge/ports";
import { DamagedFiles } from "../../../src/database/damaged-files.ts";
import { FileDatabase, type FileDatabaseOptions } from "../../../src/database/file-database.ts";
import type { FileKind } from "../../../src/database/file-kind.ts";
import { type OpenedFile, openOrCreate } from "../../../src/database/open-or-create.ts";
import { type Job, runTogether } from "../../../src/database/transaction.ts";

/** What is in a file of the tests. */
export const NOTES: FileKind = {
  name: "notes",
  remedy: "delete notes",
  applicationId: 0x6e_6f_74_65,
  migrations: ["CREATE TABLE note (id TEXT PRIMARY KEY, bytes BLOB NOT NULL)"],
};

export interface NoteStatements {
  add(id: string, bytes: Uint8Array): void;
  remove(id: string): void;
  ids(): readonly string[];
}

export function prepareNotes(db: DatabaseSync): NoteStatements {
  const add = db.prepare("INSERT INTO note (id, bytes) VALUES (?, ?)");
  const remove = db.prepare("DELETE FROM note WHERE id = ?");
  const ids = db.prepare("SELECT id FROM note ORDER BY rowid");
  return {
    add: (id, bytes) => void add.run(id, bytes),
    remove: (id) => void remove.run(id),
    ids: () => ids.all().map((row) => String(row["id"])),
  };
}

export type NotesOptions = Partial<FileDatabaseOptions<NoteStatements>> & { readonly path: string };

export class Notes extends FileDatabase<NoteStatements> {
  constructor(options: NotesOptions) {
    super({
      kind: NOTES,
      onDamage: "refuse",
      clock: systemClock,
      logger: silentLogger,
      prepare: prepareNotes,
      ...options,
    });
  }

  ids(): readonly string[] {
    return this.read((statements) => statements.ids());
  }
}

export function adding(id: string, size = 10): Job<NoteStatements, string> {
  return {
    frees: false,
    bytes: size,
    run(statements) {
      statements.add(id, new Uint8Array(size).fill(7));
      return id;
    },
  };
}

export function removing(id: string): Job<NoteStatements, void> {
  return { frees: true, bytes: 10, run: (statements) => statements.remove(id) };
}

/** The file without what looks after it: as long as a test does that itself. */
export function openNotes(path: string, known = false): OpenedFile<NoteStatements> {
  const options = {
    kind: NOTES,
    onDamage: "refuse",
    prepare: prepareNotes,
    clock: systemClock,
    logger: silentLogger,
  } as const;
  return openOrCreate(path, options, { damage: undefined, known }, new DamagedFiles(path));
}

/** Writes to such a file as a database does, and has it durable. */
export function confirm(file: OpenedFile<NoteStatements>, id: string): void {
  const [outcome] = runTogether(file, [adding(id)]);
  if (outcome?.ok !== true) throw new Error(`${id} was not written`);
  fdatasyncSync(file.log);
  file.mark.set(file.logEnd);
}

/** A folder that goes with the test. */
export function scratchFolder(): Disposable & { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "file-database-"));
  return {
    folder,
    path: join(folder, "notes.db"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
