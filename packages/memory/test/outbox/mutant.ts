import type { OutboxStoreCaseName } from "@bridge/conformance";
import type { Clock, Envelope, OutboxClaim, OutboxHead, OutboxRecord, OutboxStore } from "@bridge/ports";
import type { MemoryOutboxOptions } from "../../src/outbox/open-memory-outbox.ts";

/** A memory outbox with a fault in it, which the suite must find. */
export interface Mutant {
  /** What is wrong with the store: "an outbox that …". */
  readonly fault: string;
  readonly caughtBy: OutboxStoreCaseName;
  /** What it is opened with instead. */
  readonly options?: (options: MemoryOutboxOptions) => Partial<MemoryOutboxOptions>;
  /** The methods that differ from those of the sound `store`. */
  readonly mutate?: (store: OutboxStore, options: MemoryOutboxOptions) => Partial<OutboxStore>;
  /** What is left after an abrupt end. Default: everything. */
  readonly reopen?: (store: OutboxStore, options: MemoryOutboxOptions) => Promise<OutboxStore>;
}

export type Mutate = NonNullable<Mutant["mutate"]>;

export const ALL = { limit: Infinity, offset: 0 } as const;
/** Of nobody who gives up. */
export const NEVER = new AbortController().signal;

export function onRecord(change: (record: OutboxRecord) => OutboxRecord): Mutate {
  return (store) => ({ persist: (records, signal) => store.persist(records.map(change), signal) });
}

export function onEnvelope(change: (envelope: Envelope) => object): Mutate {
  return onRecord((record) => ({ ...record, envelope: { ...record.envelope, ...change(record.envelope) } }));
}

export function onClaim(change: (claim: OutboxClaim) => OutboxClaim): Mutate {
  return (store) => ({
    claim: async (request, signal) => (await store.claim(request, signal)).map(change),
    async claimOne(id, loanMs, signal) {
      const claim = await store.claimOne(id, loanMs, signal);
      return claim && change(claim);
    },
  });
}

/** An outbox that chooses in its own way what it lends, out of what is not finished. */
export function choosing(choose: (heads: readonly OutboxHead[], clock: Clock) => readonly OutboxHead[]): Mutate {
  return (store, { clock }) => ({
    async claim({ routeId, bindingId, limit, loanMs }, signal) {
      const heads = choose(await store.list({ routeId, bindingId }, ALL, signal), clock).slice(0, limit);
      const claims = await Promise.all(heads.map(({ id }) => store.claimOne(id, loanMs, signal)));
      return claims.flatMap((claim) => claim ?? []);
    },
  });
}

/** What may be lent when nothing is said of keys. */
export function free(heads: readonly OutboxHead[], clock: Clock): readonly OutboxHead[] {
  return heads.filter(({ lent, dueAt }) => !lent && dueAt <= clock.now());
}

/** What may be lent: nothing that is behind one of its key that may not. */
export function unblocked(heads: readonly OutboxHead[], clock: Clock): readonly OutboxHead[] {
  const lendable = new Set(free(heads, clock));
  const blocked = new Set<string | undefined>();
  return heads.filter((head) => {
    if (!lendable.has(head) && head.orderingKey !== undefined) blocked.add(head.orderingKey);
    return lendable.has(head) && !blocked.has(head.orderingKey);
  });
}
