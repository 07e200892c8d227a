import { type OutboxRecord, type PersistResult } from "@bridge/ports";
import { payloadBytes, recordIdentity } from "@bridge/ports/internal";
import type { Lane } from "./lane.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import type { OutboxStatements } from "./outbox-statements.ts";
import { contentValues, recordValues, STATUSES } from "./record-rows.ts";

interface Addition {
  readonly record: OutboxRecord;
  readonly lane: Lane;
}

/** Of one addition: the number of the record that was written, or why none was. */
type Added = number | Exclude<PersistResult, { readonly kind: "persisted" }>;

/** Writes records in one transaction. They may be lent once they are durable. */
export async function persist(parts: OutboxParts, records: readonly OutboxRecord[]): Promise<readonly PersistResult[]> {
  const { file, lanes, window } = parts;
  const additions = records.map((record) => ({ record, lane: lanes.findOrAdd(record.routeId, record.bindingId) }));
  const added = await file.write({
    frees: false,
    bytes: records.reduce((sum, record) => sum + payloadBytes(record), 0),
    run: (statements) => add(statements, additions, window.nextNumbers(additions.length)),
    done(numbers) {
      let next = 0;
      for (const { record, lane } of additions) {
        const number = numbers[next++];
        if (typeof number !== "number") continue;
        lane.stored = true;
        window.arrived(lane, number, record, lanes.size);
      }
    },
  });
  return added.map((result) => (typeof result === "number" ? { kind: "persisted" } : result));
}

function add(statements: OutboxStatements, additions: readonly Addition[], first: number): readonly Added[] {
  const lanes = new Set(additions.map((addition) => addition.lane));
  for (const lane of lanes) if (!lane.stored) statements.addLane(lane);
  const rows = additions.map(({ record, lane }, index) => recordValues(first + index, lane.number, record));
  const contents = additions.map(({ record, lane }, index) => contentValues(first + index, lane.number, record));
  if (statements.addRecords(rows) === additions.length) {
    statements.addContents(contents);
    return rows.map(([number]) => number);
  }
  // No higher numbers have been given yet.
  const added = new Set(statements.numbersFrom(first));
  statements.addContents(contents.filter(([number]) => added.has(number)));
  return additions.map((addition, index) => (added.has(first + index) ? first + index : repeat(statements, addition)));
}

function repeat(statements: OutboxStatements, { record, lane }: Addition): Added {
  const there = statements.byIdentity(lane.number, recordIdentity(record));
  if (there?.payload_digest !== record.payloadDigest) return { kind: "conflict" };
  return { kind: "duplicate", id: there.id, status: STATUSES[there.status] ?? "pending" };
}
