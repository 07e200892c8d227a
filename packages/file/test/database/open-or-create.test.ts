import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { type LogFields, type Logger, silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { DamagedFiles } from "../../src/database/damaged-files.ts";
import { FileFault } from "../../src/database/file-fault.ts";
import {
  type FormerFile,
  type OpenedFile,
  type OpeningOptions,
  openOrCreate,
} from "../../src/database/open-or-create.ts";
import { confirm, NOTES, type NoteStatements, openNotes, prepareNotes, scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors } from "./support/system-calls.ts";

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const NEW: FormerFile = { damage: undefined, known: false };

type Options = Partial<OpeningOptions<NoteStatements>>;

interface Place extends Disposable {
  readonly path: string;
  readonly lines: [string, LogFields | undefined][];
  open(options?: Options, former?: FormerFile): OpenedFile<NoteStatements>;
}

function place(): Place {
  const scratch = scratchFolder();
  const lines: [string, LogFields | undefined][] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (line, fields) => void lines.push([line, fields]),
    error: (line, fields) => void lines.push([line, fields]),
  };
  const clock = { ...systemClock, now: () => AT };
  return {
    path: scratch.path,
    lines,
    open: (options = {}, former = NEW) =>
      openOrCreate(
        scratch.path,
        { kind: NOTES, onDamage: "refuse", prepare: prepareNotes, clock, logger, ...options },
        former,
        new DamagedFiles(scratch.path),
      ),
    [Symbol.dispose]: () => scratch[Symbol.dispose](),
  };
}

/** A file that was written to and closed. */
function written(at: Place): void {
  const file = openNotes(at.path);
  confirm(file, "a");
  file.close();
}

describe("a file that is not there", () => {
  test("is made, and nothing is said", () => {
    using at = place();
    const file = at.open();
    expect(statSync(at.path).mode & 0o777).toBe(0o600);
    expect([file.path, file.statements.ids(), at.lines]).toEqual([at.path, [], []]);
    file.close();
  });

  test("but was once is made, and that is said", () => {
    using at = place();
    writeFileSync(`${at.path}-mark`, "x");
    at.open().close();
    expect(at.lines).toEqual([[expect.stringContaining("the file is gone and a new one is begun"), { file: at.path }]]);
  });

  test("but was there in this process is not made", () => {
    using at = place();
    expect(() => at.open({}, { damage: undefined, known: true })).toThrow("deleted or moved away while it was in use");
    expect(existsSync(at.path)).toBe(false);
  });
});

describe("a file that is there", () => {
  test("is opened, whether this process knows it or not", () => {
    using at = place();
    written(at);
    for (const known of [false, true]) {
      const file = at.open({}, { damage: undefined, known });
      expect(file.statements.ids()).toEqual(["a"]);
      file.close();
    }
  });

  test("is not opened where nothing can be kept", () => {
    using at = place();
    mkdirSync(at.path);
    expect(() => at.open()).toThrow("is a folder: name a file");
  });

  test.skipIf(hidesDescriptors)("is closed again when what is asked of it cannot be", () => {
    using at = place();
    written(at);
    const before = openDescriptors();
    const prepare = (): never => {
      throw new TypeError("no");
    };
    expect(() => at.open({ prepare })).toThrow(TypeError);
    expect(openDescriptors()).toBe(before);
  });

  test("is damaged when it does not know what each of its schema knows", () => {
    using at = place();
    written(at);
    const prepare = (db: DatabaseSync): NoteStatements => (db.prepare("SELECT * FROM missing"), prepareNotes(db));
    expect(() => at.open({ prepare })).toThrow(
      expect.objectContaining({
        fault: "damaged",
        message: expect.stringContaining("no such table") as string,
      }) as Error,
    );
  });

  test("of an older schema, or a new one, is not damaged by a wrong statement: that is a mistake of this program", () => {
    using at = place();
    const prepare = (db: DatabaseSync): NoteStatements => (db.prepare("SELECT * FROM missing"), prepareNotes(db));
    const mistake = expect.objectContaining({ code: "ERR_SQLITE_ERROR" }) as Error;
    expect(() => at.open({ prepare })).toThrow(mistake);
    const kind = { ...NOTES, migrations: [...NOTES.migrations, "CREATE TABLE b (a)"] };
    expect(() => at.open({ prepare, kind })).toThrow(mistake);
  });
});

describe("a damaged file", () => {
  const damage = new FileFault("notes.db", "damaged");

  test("that this process has found to be so is refused as it was found", () => {
    using at = place();
    written(at);
    expect(() => at.open({}, { damage, known: true })).toThrow(damage);
    expect(at.lines).toEqual([]);
  });

  test("is set aside, when that is wanted, and a new one begun, which is told", () => {
    using at = place();
    written(at);
    const file = at.open({ onDamage: "quarantine" }, { damage, known: true });
    const aside = `${at.path}.damaged-20260102T030405000Z`;
    expect(file.statements.ids()).toEqual([]);
    file.close();
    expect(at.lines).toEqual([
      [
        expect.stringContaining("a damaged file was set aside"),
        { file: at.path, set_aside: aside, error: damage.message },
      ],
    ]);
    using db = new DatabaseSync(aside, { readOnly: true });
    expect(prepareNotes(db).ids()).toEqual(["a"]);
  });

  test.each(["full", "failing", "displaced"] as const)("is no other one that is at fault: %s", (fault) => {
    using at = place();
    written(at);
    const thrown = new FileFault("notes.db", fault);
    const prepare = (): never => {
      throw thrown;
    };
    expect(() => at.open({ onDamage: "quarantine", prepare })).toThrow(thrown);
    expect(existsSync(at.path)).toBe(true);
    expect(at.lines).toEqual([]);
  });
});
