import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { FileKind } from "../../src/database/file-kind.ts";
import { migrate } from "../../src/database/migrate.ts";
import { hasSchemaOf } from "../../src/database/schema.ts";
import { NOTES, scratchFolder } from "./support/notes.ts";

const STEPS = ["CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO a VALUES (1)", "CREATE INDEX c ON b (x)"];

function kindOf(steps: number): FileKind {
  return { ...NOTES, migrations: STEPS.slice(0, steps) };
}

function versionOf(db: DatabaseSync): unknown {
  return db.prepare("PRAGMA user_version").get()?.["user_version"];
}

function tablesOf(db: DatabaseSync): unknown[] {
  return db
    .prepare("SELECT name FROM sqlite_schema ORDER BY name")
    .all()
    .map((row) => row["name"]);
}

describe("a file", () => {
  test("is brought to the newest schema, by the steps that it lacks", () => {
    using db = new DatabaseSync(":memory:");
    migrate(db, kindOf(1));
    expect([versionOf(db), tablesOf(db)]).toEqual([1, ["a"]]);
    migrate(db, kindOf(3));
    expect([versionOf(db), tablesOf(db)]).toEqual([3, ["a", "b", "c"]]);
    expect(db.prepare("PRAGMA application_id").get()).toEqual({ application_id: NOTES.applicationId });
    expect(db.prepare("SELECT count(*) AS n FROM a").get()).toEqual({ n: 1 });
    expect(db.isTransaction).toBe(false);
  });

  test("of the newest one is left alone", () => {
    using scratch = scratchFolder();
    using db = new DatabaseSync(scratch.path);
    migrate(db, kindOf(2));
    db.exec("PRAGMA journal_mode = WAL");
    migrate(db, kindOf(2));
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("has its schema in its header at once, not in its log", () => {
    using scratch = scratchFolder();
    using db = new DatabaseSync(scratch.path);
    migrate(db, kindOf(1));
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    migrate(db, kindOf(2));
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
    expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  });

  test("stays as it was when a step fails", () => {
    using db = new DatabaseSync(":memory:");
    migrate(db, kindOf(1));
    const wrong = { ...NOTES, migrations: [...STEPS.slice(0, 2), "CREATE TABLE a (x)"] };
    expect(() => migrate(db, wrong)).toThrow("already exists");
    expect([versionOf(db), tablesOf(db), db.isTransaction]).toEqual([1, ["a"], false]);
  });
});

describe("the schema of a file", () => {
  test("is that of its kind, word for word, in whatever order it was made", () => {
    using db = new DatabaseSync(":memory:");
    migrate(db, kindOf(3));
    expect(hasSchemaOf(db, kindOf(3))).toBe(true);
    expect(hasSchemaOf(db, kindOf(2))).toBe(false);
    using other = new DatabaseSync(":memory:");
    other.exec("CREATE TABLE b (x); CREATE TABLE a (x); CREATE INDEX c ON b (x)");
    expect(hasSchemaOf(other, kindOf(3))).toBe(true);
    other.exec("DROP INDEX c; CREATE INDEX c ON a (x)");
    expect(hasSchemaOf(other, kindOf(3))).toBe(false);
  });
});
