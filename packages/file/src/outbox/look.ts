import {
  type BlockedKey,
  type OutboxBacklog,
  type OutboxFilter,
  type OutboxHead,
  type OutboxStatus,
  type Page,
} from "@bridge/ports";
import { unpackEnvelope } from "@bridge/ports/internal";
import type { Entry } from "./entry.ts";
import type { Lane } from "./lane.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import type { HeadRow, ReadingStatements } from "./reading-statements.ts";
import { STATUSES } from "./record-rows.ts";

const NOTHING = new Uint8Array();

export function status({ file }: OutboxParts, id: string): OutboxStatus | undefined {
  const row = file.read((statements) => statements.byId(id));
  return row && STATUSES[row.status];
}

export function redriving({ file }: OutboxParts, entryId: string): string | undefined {
  return file.read((statements) => statements.redriving(entryId));
}

/** Counted in memory, so that it may be asked for at any time. */
export function backlog({ file, lanes, loans, window, clock }: OutboxParts): readonly OutboxBacklog[] {
  return file.read((statements) => {
    loans.lapse();
    return lanes.busy().map((lane) => {
      // Before the first claim there is nothing in memory; what waits for a retry is among the oldest.
      if (lane.edge === 0) window.extend(lane, statements);
      const blocked = lane.queue.blockedKeys(clock.monotonic());
      return {
        routeId: lane.routeId,
        bindingId: lane.bindingId,
        depth: lane.depth,
        oldestCreatedAt: statements.oldestCreatedAt(lane.number) ?? clock.now(),
        blockedKeys: blocked.reduce((count) => count + 1, 0),
      };
    });
  });
}

/** Told from memory, as {@link backlog} counts them. */
export function blockedKeys(parts: OutboxParts, filter: OutboxFilter, limit: number): readonly BlockedKey[] {
  const { file, lanes, loans, window, clock } = parts;
  return file.read((statements) => {
    loans.lapse();
    const now = clock.monotonic();
    const heads = lanes.busy(filter).flatMap((lane) => {
      if (lane.edge === 0) window.extend(lane, statements);
      return [...lane.queue.blockedKeys(now)].map(([orderingKey, entry]) => ({ lane, orderingKey, entry }));
    });
    const oldest = heads.toSorted((a, b) => a.entry.number - b.entry.number).slice(0, limit);
    return oldest.flatMap(({ lane, orderingKey, entry }) => {
      const { id, number, attempts, dueAt } = entry;
      const row = statements.head(number);
      if (row === undefined) return [];
      return {
        routeId: lane.routeId,
        bindingId: lane.bindingId,
        orderingKey,
        depth: depthFrom(entry),
        oldestId: id,
        attempts,
        dueAt: Math.round(clock.now() + dueAt - now),
        oldestCreatedAt: row.created_at,
      };
    });
  });
}

/** What is only in the file does not count: behind so many it is a lower bound. */
function depthFrom(oldest: Entry): number {
  let depth = 0;
  for (let entry: Entry | undefined = oldest; entry !== undefined; entry = entry.younger) depth++;
  return depth;
}

/** Oldest first, over all lanes that match. */
export function list(parts: OutboxParts, filter: OutboxFilter, page: Page): readonly OutboxHead[] {
  const { file, lanes, loans } = parts;
  return file.read((statements) => {
    loans.lapse();
    return numbersOf(lanes.busy(filter), page, statements).flatMap(({ number, lane }) => {
      const row = statements.head(number);
      return row === undefined ? [] : [headOf(row, lane, parts)];
    });
  });
}

interface Place {
  readonly number: number;
  readonly lane: Lane;
}

function numbersOf(lanes: readonly Lane[], { limit, offset }: Page, statements: ReadingStatements): readonly Place[] {
  const end = Math.min(offset + limit, Number.MAX_SAFE_INTEGER);
  return lanes
    .flatMap((lane) => statements.unfinished(lane.number, end).map((number) => ({ number, lane })))
    .toSorted((a, b) => a.number - b.number)
    .slice(offset, end);
}

function headOf(row: HeadRow, lane: Lane, parts: OutboxParts): OutboxHead {
  const loan = parts.loans.of(row.number);
  return {
    id: row.id,
    routeId: lane.routeId,
    bindingId: lane.bindingId,
    ...aboutOf(row),
    address: row.address,
    ...(row.ordering_key !== null && { orderingKey: row.ordering_key }),
    createdAt: row.created_at,
    dueAt: dueAtOf(row, lane, parts),
    attempts: row.attempts,
    lent: loan !== undefined && !loan.lapsed,
  };
}

/** Empty of a record that cannot be read. */
function aboutOf({ envelope }: HeadRow): Pick<OutboxHead, "envelopeId" | "subject"> {
  try {
    const { id, subject } = unpackEnvelope(envelope, NOTHING);
    return { envelopeId: id, subject };
  } catch {
    return { envelopeId: "", subject: "" };
  }
}

/** When a record may be sent, by the clock as it stands now. */
function dueAtOf(row: HeadRow, lane: Lane, { window, clock }: OutboxParts): number {
  if (row.due_at === 0) return row.created_at;
  const wait = window.entryFor(lane, row).dueAt - clock.monotonic();
  return wait > 0 ? Math.round(clock.now() + wait) : Math.min(row.due_at, clock.now());
}
