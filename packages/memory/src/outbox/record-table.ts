import {
  type BlockedKey,
  BridgeError,
  type ClaimEnd,
  type ClaimRequest,
  type Clock,
  type OutboxBacklog,
  type OutboxClaim,
  type OutboxFilter,
  type OutboxHead,
  type OutboxRecord,
  type OutboxStatus,
  type Page,
  type PersistResult,
  type Random,
} from "@bridge/ports";
import { ownCopy, recordIdentity } from "@bridge/ports/internal";
import { type Linked, LinkedList } from "./linked-list.ts";

/** In the queue of its route and binding until it is finished, and then among the finished. */
interface Row extends Linked<Row> {
  readonly identity: string;
  readonly record: OutboxRecord;
  status: OutboxStatus;
  attempts: number;
  /** Of a record that is to be tried again: monotonic milliseconds. */
  retryAt: number | undefined;
  /** Of the loan, whether it has lapsed or not. */
  token: string | undefined;
  /** Monotonic milliseconds. */
  lentUntil: number;
  /** Monotonic milliseconds. */
  finishedAt: number;
}

export interface RecordTableOptions {
  readonly maxRecords: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** The records of an outbox, and who has them on loan. */
export class RecordTable {
  readonly #options: RecordTableOptions;
  readonly #byId = new Map<string, Row>();
  readonly #byIdentity = new Map<string, Row>();
  /** Unfinished rows of each route and binding that has some, in the order in which they were persisted. */
  readonly #queues = new Map<string, LinkedList<Row>>();
  /** In the order in which they were finished. */
  readonly #finished = new LinkedList<Row>();

  constructor(options: RecordTableOptions) {
    this.#options = options;
  }

  /** Why there is no room for so many more; `undefined` when there is. */
  fullness(count = 1): string | undefined {
    const { maxRecords } = this.#options;
    if (this.#byId.size - this.#finished.size + count <= maxRecords) return undefined;
    return `the memory outbox is full: it holds max_records ${maxRecords}, none of them delivered; raise max_records, or see why its targets do not accept`;
  }

  /** @throws BridgeError `UNAVAILABLE` when there is no room for all that is new; then none of it is entered */
  persist(records: readonly OutboxRecord[]): readonly PersistResult[] {
    const { maxRecords } = this.#options;
    const entries = records.map((record) => {
      const identity = identityOf(record);
      return { identity, record, known: this.#resultOfRepeat(identity, record) };
    });
    const fresh = new Set(entries.flatMap(({ known, identity }) => (known === undefined ? identity : []))).size;
    const fault = this.fullness(fresh);
    if (fault !== undefined) throw new BridgeError("UNAVAILABLE", fault);
    // Evidence against duplicates is worth less than a message.
    while (this.#byId.size + fresh > maxRecords) this.#forgetFirst();
    return entries.map(
      ({ identity, record, known }) => known ?? this.#resultOfRepeat(identity, record) ?? this.#enter(identity, record),
    );
  }

  claim({ routeId, bindingId, limit, loanMs }: ClaimRequest): readonly OutboxClaim[] {
    const claims: OutboxClaim[] = [];
    /** Keys whose oldest unfinished record this call does not return. */
    const blocked = new Set<string>();
    for (const row of this.#queues.get(nameOf(routeId, bindingId)) ?? []) {
      if (claims.length >= limit) break;
      const { orderingKey } = row.record;
      const free = !this.#isLent(row) && !this.#isWaiting(row);
      if (free && (orderingKey === undefined || !blocked.has(orderingKey))) claims.push(this.#lend(row, loanMs));
      else if (orderingKey !== undefined) blocked.add(orderingKey);
    }
    return claims;
  }

  claimOne(id: string, loanMs: number): OutboxClaim | undefined {
    const row = this.#byId.get(id);
    return row === undefined || row.status !== "pending" || this.#isLent(row) ? undefined : this.#lend(row, loanMs);
  }

  /** Whether the end still counted. */
  finish({ id, token, outcome }: ClaimEnd): boolean {
    const row = this.#byId.get(id);
    if (row === undefined || row.token !== token) return false;
    row.token = undefined;
    if (outcome.kind === "retry") {
      row.retryAt = this.#options.clock.monotonic() + outcome.delayMs;
      row.attempts = outcome.attempts;
    } else {
      row.status = outcome.kind;
      row.finishedAt = this.#options.clock.monotonic();
      this.#leaveQueue(row);
      this.#finished.add(row);
    }
    return true;
  }

  status(id: string): OutboxStatus | undefined {
    return this.#byId.get(id)?.status;
  }

  redriving(entryId: string): string | undefined {
    for (const queue of this.#queues.values()) {
      for (const { record } of queue) if (record.entryId === entryId) return record.id;
    }
    return undefined;
  }

  backlog(): readonly OutboxBacklog[] {
    return [...this.#queues.values()].flatMap((queue) => {
      const { first } = queue;
      if (first === undefined) return [];
      const heads = new Map<string, Row>();
      for (const row of queue) {
        const { orderingKey } = row.record;
        if (orderingKey !== undefined && !heads.has(orderingKey)) heads.set(orderingKey, row);
      }
      return {
        routeId: first.record.routeId,
        bindingId: first.record.bindingId,
        depth: queue.size,
        oldestCreatedAt: first.record.createdAt,
        blockedKeys: [...heads.values()].filter((row) => this.#isWaiting(row) && !this.#isLent(row)).length,
      };
    });
  }

  blockedKeys({ routeId, bindingId }: OutboxFilter, limit: number): readonly BlockedKey[] {
    const heads = new Map<string, { readonly row: Row; depth: number }>();
    for (const row of this.#byId.values()) {
      const { record } = row;
      if (row.status !== "pending" || record.orderingKey === undefined) continue;
      if ((routeId ?? record.routeId) !== record.routeId || (bindingId ?? record.bindingId) !== record.bindingId)
        continue;
      const key = JSON.stringify([record.routeId, record.bindingId, record.orderingKey]);
      const head = heads.get(key);
      if (head === undefined) heads.set(key, { row, depth: 1 });
      else head.depth++;
    }
    return [...heads.values()]
      .filter(({ row }) => this.#isWaiting(row) && !this.#isLent(row))
      .slice(0, limit)
      .map(({ row, depth }) => {
        const { id, orderingKey = "", createdAt, ...place } = this.#headOf(row);
        return {
          routeId: place.routeId,
          bindingId: place.bindingId,
          orderingKey,
          depth,
          oldestId: id,
          attempts: place.attempts,
          dueAt: place.dueAt,
          oldestCreatedAt: createdAt,
        };
      });
  }

  list({ routeId, bindingId }: OutboxFilter, { limit, offset }: Page): readonly OutboxHead[] {
    const heads: OutboxHead[] = [];
    let skipped = 0;
    // Rows are entered in the order in which they were persisted.
    for (const row of this.#byId.values()) {
      if (heads.length >= limit) break;
      const { record } = row;
      if (row.status !== "pending") continue;
      if (routeId !== undefined && record.routeId !== routeId) continue;
      if (bindingId !== undefined && record.bindingId !== bindingId) continue;
      if (skipped++ >= offset) heads.push(this.#headOf(row));
    }
    return heads;
  }

  /** Drops the rows that were finished at least so many milliseconds ago. */
  forget(ageMs: number): void {
    const youngest = this.#options.clock.monotonic() - ageMs;
    for (let row = this.#finished.first; row !== undefined && row.finishedAt <= youngest; row = this.#finished.first) {
      this.#forgetFirst();
    }
  }

  clear(): void {
    this.#byId.clear();
    this.#byIdentity.clear();
    this.#queues.clear();
    this.#finished.clear();
  }

  #forgetFirst(): void {
    const row = this.#finished.first;
    if (row === undefined) return;
    this.#finished.delete(row);
    this.#byId.delete(row.record.id);
    this.#byIdentity.delete(row.identity);
  }

  /** `undefined` for a record that is new. */
  #resultOfRepeat(identity: string, { payloadDigest }: OutboxRecord): PersistResult | undefined {
    const there = this.#byIdentity.get(identity);
    if (there === undefined) return undefined;
    if (there.record.payloadDigest !== payloadDigest) return { kind: "conflict" };
    return { kind: "duplicate", id: there.record.id, status: there.status };
  }

  #enter(identity: string, record: OutboxRecord): PersistResult {
    const row: Row = {
      identity,
      record: ownCopy(record),
      status: "pending",
      attempts: 0,
      retryAt: undefined,
      token: undefined,
      lentUntil: 0,
      finishedAt: 0,
      before: undefined,
      after: undefined,
    };
    this.#byId.set(record.id, row);
    this.#byIdentity.set(identity, row);
    const name = nameOf(record.routeId, record.bindingId);
    const queue = this.#queues.get(name) ?? new LinkedList();
    this.#queues.set(name, queue);
    queue.add(row);
    return { kind: "persisted" };
  }

  #leaveQueue(row: Row): void {
    const name = nameOf(row.record.routeId, row.record.bindingId);
    const queue = this.#queues.get(name);
    queue?.delete(row);
    if (queue?.size === 0) this.#queues.delete(name);
  }

  #isLent(row: Row): boolean {
    return row.token !== undefined && this.#options.clock.monotonic() < row.lentUntil;
  }

  #isWaiting(row: Row): boolean {
    return row.retryAt !== undefined && this.#options.clock.monotonic() < row.retryAt;
  }

  #lend(row: Row, loanMs: number): OutboxClaim {
    row.token = this.#options.random.id();
    row.lentUntil = this.#options.clock.monotonic() + loanMs;
    return { record: ownCopy(row.record), token: row.token, attempts: row.attempts };
  }

  #headOf(row: Row): OutboxHead {
    const { id, routeId, bindingId, address, envelope, orderingKey, createdAt } = row.record;
    const { clock } = this.#options;
    return {
      id,
      routeId,
      bindingId,
      envelopeId: envelope.id,
      subject: envelope.subject,
      address,
      orderingKey,
      createdAt,
      dueAt: row.retryAt === undefined ? createdAt : Math.round(clock.now() + row.retryAt - clock.monotonic()),
      attempts: row.attempts,
      lent: this.#isLent(row),
    };
  }
}

function identityOf(record: OutboxRecord): string {
  return JSON.stringify([record.routeId, record.bindingId, recordIdentity(record)]);
}

function nameOf(routeId: string, bindingId: string): string {
  return JSON.stringify([routeId, bindingId]);
}
