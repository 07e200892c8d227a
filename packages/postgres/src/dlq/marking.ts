import { type DeadLetterMarks, type DlqMarks, type MarkChange, marked, mergedMarks } from "@bridge/ports";
import { packMarks } from "@bridge/ports/internal";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Changes } from "./changes.ts";
import { chunksOf, ofIds, picked } from "./deleting.ts";
import { ENTRIES } from "./dlq-tables.ts";
import { marksOf } from "./kept-back.ts";

export interface MarksRow {
  readonly id: string;
  readonly marks: string | null;
}

type Remark = (id: string, marks: DeadLetterMarks | undefined) => DeadLetterMarks | undefined;

/** Changes marks: what somebody else has changed between reading and writing is read again. */
export class Marking implements DlqMarks {
  readonly #client: PostgresClient;
  readonly #changes: Changes;
  readonly #visibleFrom: () => number;

  /** Entries that failed before `visibleFrom` are not there. */
  constructor(client: PostgresClient, changes: Changes, visibleFrom: () => number) {
    this.#client = client;
    this.#changes = changes;
    this.#visibleFrom = visibleFrom;
  }

  mark(changes: ReadonlyMap<string, MarkChange>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    return this.#remark(changes.keys(), (id, marks) => marked(marks, changes.get(id) ?? {}), signal);
  }

  /** Adds those of entries with the same ids. Returns the ids that were there. */
  merge(back: ReadonlyMap<string, DeadLetterMarks | undefined>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    return this.#remark(back.keys(), (id, marks) => mergedMarks(marks, back.get(id)), signal);
  }

  async #remark(ids: Iterable<string>, change: Remark, signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const done = new Set<string>();
    for (const chunk of chunksOf(ids)) {
      let left = chunk;
      while (left.length > 0) {
        const there = await this.#read(left, signal);
        for (const id of await this.#write(there, change, signal)) done.add(id);
        left = there.map(({ id }) => id).filter((id) => !done.has(id));
      }
    }
    return done;
  }

  async #read(ids: readonly string[], signal: AbortSignal): Promise<readonly MarksRow[]> {
    const { condition, values } = ofIds(ids, this.#visibleFrom());
    const text = `SELECT id, marks FROM ${this.#client.table(ENTRIES)} WHERE ${condition}`;
    return (await this.#client.query<MarksRow>({ what: "reading marks", text, values }, signal)).rows;
  }

  /** Returns those whose marks were still as they were read. */
  async #write(rows: readonly MarksRow[], change: Remark, signal: AbortSignal): Promise<readonly string[]> {
    if (rows.length === 0) return [];
    const entries = this.#client.table(ENTRIES);
    const made = rows.map(({ id, marks }) => packMarks(change(id, marksOf(marks))));
    const which = ofIds(
      rows.map(({ id }) => id),
      this.#visibleFrom(),
    );
    const [before, after] = [1, 2].map((n) => `$${which.values.length + n}::text[]`);
    const asRead = `wanted AS (
        SELECT * FROM unnest($${which.values.length}::text[], ${before}, ${after}) AS wanted (id, was, becomes)
      )`;
    const condition = `${which.condition}
        AND marks IS NOT DISTINCT FROM (SELECT was FROM wanted WHERE wanted.id = ${entries}.id)`;
    const queries = `${asRead}, ${picked(entries, { ...which, condition })}, changed AS (
        UPDATE ${entries} AS entry SET marks = wanted.becomes FROM wanted
         WHERE entry.id = wanted.id AND entry.id IN (SELECT id FROM picked) RETURNING entry.id
      )`;
    const values = [...which.values, rows.map(({ marks }) => marks), made];
    return this.#changes.make({ what: "marking dead letters", queries, values }, signal);
  }
}
