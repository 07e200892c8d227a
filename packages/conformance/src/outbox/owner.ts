import assert from "node:assert/strict";
import type {
  BlockedKey,
  ClaimEnd,
  ClaimRequest,
  OutboxBacklog,
  OutboxClaim,
  OutboxFilter,
  OutboxHead,
  OutboxRecord,
  OutboxStatus,
  OutboxStore,
  Page,
  PersistResult,
} from "@bridge/ports";

/** A loan that ends in no case by itself. */
const LONG_LOAN_MS = 3_600_000;

const ALL: Page = { limit: 10_000, offset: 0 };

/** An outbox in the hands of one who persists, claims and finishes; what most cases do not care about has a default. */
export class Owner {
  readonly store: OutboxStore;
  readonly #signal: AbortSignal;

  constructor(store: OutboxStore, signal: AbortSignal) {
    this.store = store;
    this.#signal = signal;
  }

  async persist(...records: readonly OutboxRecord[]): Promise<readonly PersistResult[]> {
    return plain(await this.store.persist(records, this.#signal));
  }

  /** Persists records that are new, in one call. */
  async add(...records: readonly OutboxRecord[]): Promise<void> {
    assert.deepEqual(
      await this.persist(...records),
      records.map(() => ({ kind: "persisted" })),
    );
  }

  /** Of route `route` and binding `binding`: up to 500 of what is due, for an hour, if nothing else is said. */
  async claim(request: Partial<ClaimRequest> = {}): Promise<readonly OutboxClaim[]> {
    const whole = { routeId: "route", bindingId: "binding", limit: 500, loanMs: LONG_LOAN_MS, ...request };
    const claims = await this.store.claim(whole, this.#signal);
    assert.ok(claims.length <= whole.limit, `${claims.length} records are lent at a limit of ${whole.limit}`);
    return claims;
  }

  async claimIds(request: Partial<ClaimRequest> = {}): Promise<readonly string[]> {
    return idsOf(await this.claim(request));
  }

  /** Claims and has to get exactly this record. */
  async claimOnly(id: string, request: Partial<ClaimRequest> = {}): Promise<OutboxClaim> {
    const [claim, ...more] = await this.claim(request);
    assert.ok(claim !== undefined, `${id} is not lent`);
    assert.deepEqual(idsOf([claim, ...more]), [id]);
    return claim;
  }

  claimOne(id: string, loanMs = LONG_LOAN_MS): Promise<OutboxClaim | undefined> {
    return this.store.claimOne(id, loanMs, this.#signal);
  }

  /** `claimOne` that has to lend. */
  async take(id: string, loanMs = LONG_LOAN_MS): Promise<OutboxClaim> {
    const claim = await this.claimOne(id, loanMs);
    assert.ok(claim !== undefined, `${id} is not lent`);
    assert.equal(claim.record.id, id);
    return claim;
  }

  finish(...ends: readonly ClaimEnd[]): Promise<readonly boolean[]> {
    return this.store.finish(ends, this.#signal);
  }

  /** Ends a loan; tells whether that was entered. */
  async end(claim: OutboxClaim, outcome: ClaimEnd["outcome"]): Promise<boolean> {
    const entered = await this.finish(endOf(claim, outcome));
    assert.equal(entered.length, 1, "one end has another number of answers than one");
    return entered[0] === true;
  }

  status(id: string): Promise<OutboxStatus | undefined> {
    return this.store.status(id, this.#signal);
  }

  redriving(entryId: string): Promise<string | undefined> {
    return this.store.redriving(entryId, this.#signal);
  }

  /** The lines in the order of their routes and bindings. */
  async backlog(): Promise<readonly OutboxBacklog[]> {
    const lines = await this.store.backlog(this.#signal);
    return plain(lines.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)));
  }

  async blockedKeys(filter: OutboxFilter = {}, limit = ALL.limit): Promise<readonly BlockedKey[]> {
    assert.ok(this.store.blockedKeys !== undefined, "the store has no blockedKeys: give it one, or excuse the case");
    return plain(await this.store.blockedKeys(filter, limit, this.#signal));
  }

  async list(filter: OutboxFilter = {}, page: Partial<Page> = {}): Promise<readonly OutboxHead[]> {
    return plain(await this.store.list(filter, { ...ALL, ...page }, this.#signal));
  }

  async listIds(filter: OutboxFilter = {}, page: Partial<Page> = {}): Promise<readonly string[]> {
    return (await this.list(filter, page)).map(({ id }) => id);
  }
}

export function endOf({ record, token }: OutboxClaim, outcome: ClaimEnd["outcome"]): ClaimEnd {
  return { id: record.id, token, outcome };
}

/** A retry that is due at once. */
export function dueAtOnce(attempts: number): ClaimEnd["outcome"] {
  return { kind: "retry", delayMs: 0, attempts };
}

export function idsOf(claims: readonly OutboxClaim[]): readonly string[] {
  return claims.map(({ record }) => record.id);
}

function placeOf({ routeId, bindingId }: OutboxBacklog): string {
  return `${routeId} ${bindingId}`;
}

/** Copies of one class, without what is `undefined`: it may be there or not. */
function plain<T extends object>(items: readonly T[]): readonly T[] {
  return items.map((item) => Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as T);
}
