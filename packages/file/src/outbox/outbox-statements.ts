import type { DatabaseSync } from "node:sqlite";
import { type ReadingStatements, readingStatements } from "./reading-statements.ts";
import { type WritingStatements, writingStatements } from "./writing-statements.ts";

/** Everything that is done with the file. */
export interface OutboxStatements extends ReadingStatements, WritingStatements {}

export function outboxStatements(db: DatabaseSync): OutboxStatements {
  return { ...readingStatements(db), ...writingStatements(db) };
}
