import type {
  ClaimEnd,
  ClaimRequest,
  Clock,
  OutboxBacklog,
  OutboxFilter,
  OutboxHead,
  OutboxRecord,
  OutboxStatus,
  Page,
  PersistResult,
} from "@bridge/ports";

interface Row {
  readonly record: OutboxRecord;
  status: OutboxStatus;
  attempts: number;
  /** Monotonic milliseconds. */
  retryAt: number | undefined;
  /** How often it has been lent. */
  loans: number;
  lent: boolean;
  /** Monotonic milliseconds. */
  lentUntil: number;
  finishedAt: number;
}

/** A loan, by its number among those of its record, and the attempts that it tells of. */
export interface ModelLoan {
  readonly id: string;
  readonly loan: number;
  readonly attempts: number;
}

export interface OutboxModelOptions {
  readonly clock: Clock;
  readonly maxRecords: number;
  readonly retentionMs: number;
}

/** What the memory outbox should be: plain lists that are searched from end to end for each question. */
export class OutboxModel {
  readonly #options: OutboxModelOptions;
  #rows: readonly Row[] = [];
  /** In the order in which they were finished. */
  #finished: readonly Row[] = [];

  constructor(options: OutboxModelOptions) {
    this.#options = options;
  }

  persist(records: readonly OutboxRecord[]): readonly PersistResult[] | "full" {
    const { maxRecords } = this.#options;
    const fresh: Row[] = [];
    const answers = records.map((record): PersistResult => {
      const there = [...this.#rows, ...fresh].find((row) => isSameMessage(row.record, record));
      if (there === undefined) {
        fresh.push(newRow(record));
        return { kind: "persisted" };
      }
      if (there.record.payloadDigest !== record.payloadDigest) return { kind: "conflict" };
      return { kind: "duplicate", id: there.record.id, status: there.status };
    });
    if (this.#unfinished({}).length + fresh.length > maxRecords) return "full";
    while (this.#rows.length + fresh.length > maxRecords) this.#forgetFirst();
    this.#rows = [...this.#rows, ...fresh];
    return answers;
  }

  claim({ routeId, bindingId, limit, loanMs }: ClaimRequest): readonly ModelLoan[] {
    const queue = this.#unfinished({ routeId, bindingId });
    const taken: Row[] = [];
    for (const [index, row] of queue.entries()) {
      const key = row.record.orderingKey;
      const before = queue.slice(0, index).filter(({ record }) => key !== undefined && record.orderingKey === key);
      const free = !this.#isLent(row) && !this.#isWaiting(row) && before.every((older) => taken.includes(older));
      if (free && taken.length < limit) taken.push(row);
    }
    return taken.map((row) => this.#lend(row, loanMs));
  }

  claimOne(id: string, loanMs: number): ModelLoan | undefined {
    const row = this.#pending(id);
    return row === undefined || this.#isLent(row) ? undefined : this.#lend(row, loanMs);
  }

  finish({ id, loan }: ModelLoan, outcome: ClaimEnd["outcome"]): boolean {
    const row = this.#pending(id);
    if (row === undefined || !row.lent || row.loans !== loan) return false;
    row.lent = false;
    if (outcome.kind === "retry") {
      row.attempts = outcome.attempts;
      row.retryAt = this.#options.clock.monotonic() + outcome.delayMs;
    } else {
      row.status = outcome.kind;
      row.finishedAt = this.#options.clock.monotonic();
      this.#finished = [...this.#finished, row];
    }
    return true;
  }

  /** What the store does each second. */
  forget(): void {
    const { clock, retentionMs } = this.#options;
    while (this.#finished.some((row) => row.finishedAt + retentionMs <= clock.monotonic())) this.#forgetFirst();
  }

  status(id: string): OutboxStatus | undefined {
    return this.#rows.find(({ record }) => record.id === id)?.status;
  }

  redriving(entryId: string): readonly string[] {
    return this.#unfinished({}).flatMap(({ record }) => (record.entryId === entryId ? record.id : []));
  }

  list(filter: OutboxFilter, { limit, offset }: Page): readonly OutboxHead[] {
    const { clock } = this.#options;
    return this.#unfinished(filter)
      .slice(offset, offset + limit)
      .map((row) => {
        const { id, routeId, bindingId, address, envelope, orderingKey, createdAt } = row.record;
        const about = { id, routeId, bindingId, address, orderingKey, createdAt, attempts: row.attempts };
        const dueAt = row.retryAt === undefined ? createdAt : clock.now() + row.retryAt - clock.monotonic();
        return { ...about, envelopeId: envelope.id, subject: envelope.subject, dueAt, lent: this.#isLent(row) };
      });
  }

  backlog(): readonly OutboxBacklog[] {
    const places = this.#unfinished({}).map(({ record: { routeId, bindingId } }) => ({ routeId, bindingId }));
    const names = places.map((place) => JSON.stringify(place));
    return places
      .filter((_, index) => names.indexOf(names[index] ?? "") === index)
      .map((place) => {
        const queue = this.#unfinished(place);
        const heads = queue.filter(
          ({ record: { orderingKey } }, index) =>
            orderingKey !== undefined && queue.findIndex(({ record }) => record.orderingKey === orderingKey) === index,
        );
        return {
          ...place,
          depth: queue.length,
          oldestCreatedAt: queue[0]?.record.createdAt ?? 0,
          blockedKeys: heads.filter((row) => this.#isWaiting(row) && !this.#isLent(row)).length,
        };
      });
  }

  #unfinished({ routeId, bindingId }: OutboxFilter): readonly Row[] {
    return this.#rows
      .filter(({ status }) => status === "pending")
      .filter(({ record }) => routeId === undefined || record.routeId === routeId)
      .filter(({ record }) => bindingId === undefined || record.bindingId === bindingId);
  }

  #pending(id: string): Row | undefined {
    return this.#unfinished({}).find(({ record }) => record.id === id);
  }

  #isLent(row: Row): boolean {
    return row.lent && this.#options.clock.monotonic() < row.lentUntil;
  }

  #isWaiting(row: Row): boolean {
    return row.retryAt !== undefined && this.#options.clock.monotonic() < row.retryAt;
  }

  #lend(row: Row, loanMs: number): ModelLoan {
    row.lent = true;
    row.lentUntil = this.#options.clock.monotonic() + loanMs;
    return { id: row.record.id, loan: ++row.loans, attempts: row.attempts };
  }

  #forgetFirst(): void {
    const [first, ...rest] = this.#finished;
    this.#finished = rest;
    this.#rows = this.#rows.filter((row) => row !== first);
  }
}

function newRow(record: OutboxRecord): Row {
  const row = { record, attempts: 0, retryAt: undefined, loans: 0, lent: false, lentUntil: 0, finishedAt: 0 };
  return { ...row, status: "pending" };
}

function isSameMessage(a: OutboxRecord, b: OutboxRecord): boolean {
  return a.routeId === b.routeId && a.bindingId === b.bindingId && identityOf(a) === identityOf(b);
}

function identityOf({ identity, envelope }: OutboxRecord): string {
  return JSON.stringify(identity === undefined ? { message: envelope.id } : { identity });
}
