import {
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

interface Row {
  readonly record: OutboxRecord;
  status: OutboxStatus;
  attempts: number;
  dueAt: number;
  /** Of the loan, whether it has lapsed or not. */
  token: string | undefined;
  /** Monotonic milliseconds. */
  lentUntil: number;
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
  /** Unfinished rows of each route and binding, in the order in which they were persisted. */
  readonly #queues = new Map<string, Set<Row>>();
  /** Finished rows, the one that was finished first at the front. */
  readonly #finished = new Set<Row>();

  constructor(options: RecordTableOptions) {
    this.#options = options;
  }

  persist(records: readonly OutboxRecord[]): readonly PersistResult[] {
    const { maxRecords, clock } = this.#options;
    const fresh = records.filter((record) => !this.#byIdentity.has(identityOf(record)));
    if (this.#byId.size - this.#finished.size + fresh.length > maxRecords) {
      throw new BridgeError(
        "UNAVAILABLE",
        `the memory outbox is full: it holds max_records ${maxRecords}, none of them delivered; raise max_records, or see why its targets do not accept`,
      );
    }
    // Evidence against duplicates is worth less than a message.
    while (this.#byId.size + fresh.length > maxRecords) this.#forgetFirst();
    return records.map((record): PersistResult => {
      const identity = identityOf(record);
      const there = this.#byIdentity.get(identity);
      if (there !== undefined) {
        if (there.record.payloadDigest !== record.payloadDigest) return { kind: "conflict" };
        return { kind: "duplicate", id: there.record.id, status: there.status };
      }
      const row: Row = {
        record: { ...record, envelope: { ...record.envelope, payload: record.envelope.payload.slice() } },
        status: "pending",
        attempts: 0,
        dueAt: clock.now(),
        token: undefined,
        lentUntil: 0,
        finishedAt: 0,
      };
      this.#byId.set(record.id, row);
      this.#byIdentity.set(identity, row);
      this.#queueOf(record.routeId, record.bindingId).add(row);
      return { kind: "persisted" };
    });
  }

  claim({ routeId, bindingId, limit, loanMs }: ClaimRequest): readonly OutboxClaim[] {
    const now = this.#options.clock.now();
    const claims: OutboxClaim[] = [];
    /** Keys whose oldest unfinished record this call does not return. */
    const blocked = new Set<string>();
    for (const row of this.#queueOf(routeId, bindingId)) {
      if (claims.length >= limit) break;
      const { orderingKey } = row.record;
      const free = row.dueAt <= now && !this.#isLent(row);
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
    if (row === undefined || row.status !== "pending" || row.token !== token) return false;
    row.token = undefined;
    if (outcome.kind === "retry") {
      row.dueAt = outcome.dueAt;
      row.attempts = outcome.attempts;
      return true;
    }
    row.status = outcome.kind;
    row.finishedAt = this.#options.clock.now();
    this.#queueOf(row.record.routeId, row.record.bindingId).delete(row);
    this.#finished.add(row);
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
    const now = this.#options.clock.now();
    return [...this.#queues.values()].flatMap((queue) => {
      const [oldest] = queue;
      if (oldest === undefined) return [];
      const heads = new Map<string, Row>();
      for (const row of queue) {
        const { orderingKey } = row.record;
        if (orderingKey !== undefined && !heads.has(orderingKey)) heads.set(orderingKey, row);
      }
      return {
        routeId: oldest.record.routeId,
        bindingId: oldest.record.bindingId,
        depth: queue.size,
        oldestCreatedAt: oldest.record.createdAt,
        blockedKeys: [...heads.values()].filter((row) => row.dueAt > now && !this.#isLent(row)).length,
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

  /** Drops the rows that were finished before a time. */
  forget(finishedBefore: number): void {
    for (const row of this.#finished) {
      if (row.finishedAt >= finishedBefore) break;
      this.#forgetFirst();
    }
  }

  #forgetFirst(): void {
    const [row] = this.#finished;
    if (row === undefined) return;
    this.#finished.delete(row);
    this.#byId.delete(row.record.id);
    this.#byIdentity.delete(identityOf(row.record));
  }

  clear(): void {
    this.#byId.clear();
    this.#byIdentity.clear();
    this.#finished.clear();
    this.#queues.clear();
  }

  #queueOf(routeId: string, bindingId: string): Set<Row> {
    const name = JSON.stringify([routeId, bindingId]);
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new Set();
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #isLent(row: Row): boolean {
    return row.token !== undefined && this.#options.clock.monotonic() < row.lentUntil;
  }

  #lend(row: Row, loanMs: number): OutboxClaim {
    row.token = this.#options.random.id();
    row.lentUntil = this.#options.clock.monotonic() + loanMs;
    return { record: row.record, token: row.token, attempts: row.attempts };
  }

  #headOf(row: Row): OutboxHead {
    const { id, routeId, bindingId, address, envelope, orderingKey, createdAt } = row.record;
    return {
      id,
      routeId,
      bindingId,
      envelopeId: envelope.id,
      subject: envelope.subject,
      address,
      orderingKey,
      createdAt,
      dueAt: row.dueAt,
      attempts: row.attempts,
      lent: this.#isLent(row),
    };
  }
}

function identityOf({ routeId, bindingId, envelope }: OutboxRecord): string {
  return JSON.stringify([routeId, bindingId, envelope.id]);
}
