import type { ClaimEnd, ClaimRequest, Clock, OutboxRecord, OutboxStatus, PersistResult } from "@bridge/ports";

interface Row {
  readonly record: OutboxRecord;
  status: OutboxStatus;
  attempts: number;
  /** Monotonic milliseconds. */
  dueAt: number;
  /** What was written down of the last retry: epoch milliseconds, and how long it was till then. */
  retry: { readonly at: number; readonly delayMs: number };
  loan: { readonly token: string; readonly until: number } | undefined;
}

/** What is lent, without the token, which only the store knows. */
export interface Lent {
  readonly id: string;
  readonly attempts: number;
}

/** What an outbox should be: a plain list, looked through for each question. Times are monotonic and given by whoever asks. */
export class OutboxModel {
  readonly #rows: Row[] = [];

  persist(record: OutboxRecord): PersistResult {
    const there = this.#rows.find(({ record: other }) => placeOf(other) === placeOf(record));
    if (there === undefined) {
      this.#rows.push({
        record,
        status: "pending",
        attempts: 0,
        dueAt: 0,
        retry: { at: 0, delayMs: 0 },
        loan: undefined,
      });
      return { kind: "persisted" };
    }
    if (there.record.payloadDigest !== record.payloadDigest) return { kind: "conflict" };
    return { kind: "duplicate", id: there.record.id, status: there.status };
  }

  claimable({ routeId, bindingId, limit }: ClaimRequest, now: number): readonly Lent[] {
    const blocked = new Set<string | undefined>();
    const lent: Lent[] = [];
    for (const { record, attempts, dueAt, loan } of this.pending()) {
      if (record.routeId !== routeId || record.bindingId !== bindingId) continue;
      const { orderingKey: key } = record;
      const free = dueAt <= now && (loan === undefined || loan.until <= now) && !blocked.has(key);
      if (free && lent.length < limit) lent.push({ id: record.id, attempts });
      else if (key !== undefined) blocked.add(key);
    }
    return lent;
  }

  one(id: string, now: number): Lent | undefined {
    const row = this.pending().find(({ record }) => record.id === id);
    if (row === undefined || (row.loan !== undefined && row.loan.until > now)) return undefined;
    return { id, attempts: row.attempts };
  }

  lend(id: string, token: string, until: number): void {
    this.#row(id).loan = { token, until };
  }

  finish({ id, token, outcome }: ClaimEnd, clock: Clock): boolean {
    const row = this.#rows.find(({ record }) => record.id === id);
    if (row?.loan?.token !== token) return false;
    row.loan = undefined;
    if (outcome.kind === "retry") {
      row.attempts = outcome.attempts;
      row.dueAt = clock.monotonic() + outcome.delayMs;
      row.retry = { at: clock.now() + outcome.delayMs, delayMs: outcome.delayMs };
    } else {
      row.status = outcome.kind;
    }
    return true;
  }

  /** A new process: everything that was lent is free, and the wait for a retry goes by the time of day, within reason. */
  restart(clock: Clock): void {
    for (const row of this.#rows) {
      row.loan = undefined;
      const { at, delayMs } = row.retry;
      row.dueAt = clock.monotonic() + Math.min(at - clock.now(), delayMs);
    }
  }

  status(id: string): OutboxStatus | undefined {
    return this.#rows.find(({ record }) => record.id === id)?.status;
  }

  record(id: string): OutboxRecord {
    return this.#row(id).record;
  }

  pending(): readonly Row[] {
    return this.#rows.filter(({ status }) => status === "pending");
  }

  #row(id: string): Row {
    const row = this.#rows.find(({ record }) => record.id === id);
    if (row === undefined) throw new Error(`the model knows no ${id}`);
    return row;
  }
}

function placeOf({ routeId, bindingId, identity, envelope }: OutboxRecord): string {
  return JSON.stringify([routeId, bindingId, ...(identity === undefined ? [envelope.id] : ["", identity])]);
}
