import type { OutboxClaim } from "@bridge/ports";
import { ALL, choosing, free, type Mutant, onClaim, onRecord, unblocked } from "./mutant.ts";

/** Faults of lending and of the order of keys. */
export const CLAIMING_MUTANTS: readonly Mutant[] = [
  {
    fault: "lends newest first",
    caughtBy: "lends oldest first, up to the limit",
    mutate: choosing((heads, clock) => free(heads, clock).toReversed()),
  },
  {
    fault: "lends in the order of ids",
    caughtBy: "the oldest is what was persisted first, within one call too",
    mutate: choosing((heads, clock) => free(heads, clock).toSorted((a, b) => (a.id < b.id ? -1 : 1))),
  },
  {
    fault: "goes by the times of its records",
    caughtBy: "a record whose maker's clock was behind is no older for it",
    mutate: choosing((heads, clock) => free(heads, clock).toSorted((a, b) => a.createdAt - b.createdAt)),
  },
  {
    fault: "lends a record when it was made",
    caughtBy: "a record whose maker's clock was ahead is due at once",
    mutate: choosing((heads, clock) => unblocked(heads, clock).filter(({ createdAt }) => createdAt <= clock.now())),
  },
  {
    fault: "lends a new record when it was persisted",
    caughtBy: "a new record is due even when the clock is set back",
    mutate(store, options) {
      let latest = 0;
      return {
        async persist(records, signal) {
          latest = options.clock.now();
          return store.persist(records, signal);
        },
        async claim(request, signal) {
          return options.clock.now() < latest ? [] : store.claim(request, signal);
        },
      };
    },
  },
  {
    fault: "lends one record more than it may",
    caughtBy: "lends oldest first, up to the limit",
    mutate: (store) => ({ claim: (request, signal) => store.claim({ ...request, limit: request.limit + 1 }, signal) }),
  },
  {
    fault: "takes a limit of 0 as none",
    caughtBy: "lends nothing at a limit of 0",
    mutate: (store) => ({
      claim: (request, signal) => store.claim({ ...request, limit: request.limit || Infinity }, signal),
    }),
  },
  {
    fault: "lends the records of all bindings of a route",
    caughtBy: "lends the records of one route and binding",
    mutate: (store) => ({
      async claim({ routeId, limit, loanMs }, signal) {
        const heads = (await store.list({ routeId }, ALL, signal)).slice(0, limit);
        const claims = await Promise.all(heads.map(({ id }) => store.claimOne(id, loanMs, signal)));
        return claims.flatMap((claim) => claim ?? []);
      },
    }),
  },
  {
    fault: "answers those who claim at once with one answer",
    caughtBy: "of claims that race, each record goes to one",
    mutate(store) {
      let answer: Promise<readonly OutboxClaim[]> | undefined;
      return {
        claim(request, signal) {
          answer ??= store.claim(request, signal).finally(() => {
            answer = undefined;
          });
          return answer;
        },
      };
    },
  },
  {
    fault: "lends a record to all who ask for it",
    caughtBy: "a lent record is lent to nobody else",
    mutate(store) {
      const lent = new Map<string, OutboxClaim>();
      return {
        async claim(request, signal) {
          const claims = await store.claim(request, signal);
          for (const claim of claims) lent.set(claim.record.id, claim);
          return claims;
        },
        claimOne: async (id, loanMs, signal) => (await store.claimOne(id, loanMs, signal)) ?? lent.get(id),
      };
    },
  },
  {
    fault: "gives one token to all loans of a record",
    caughtBy: "each loan has a token of its own",
    mutate: onClaim((claim) => ({ ...claim, token: claim.record.id })),
  },
  {
    fault: "lends for ever",
    caughtBy: "a lapsed loan can be had again, at the record's old place",
    mutate: (store) => ({ claim: (request, signal) => store.claim({ ...request, loanMs: Infinity }, signal) }),
  },
  {
    fault: "lends for ever what is asked for by id",
    caughtBy: "a loan of claimOne lapses too",
    mutate: (store) => ({ claimOne: (id, _loanMs, signal) => store.claimOne(id, Infinity, signal) }),
  },
  {
    fault: "lends for half the time",
    caughtBy: "a loan lasts to its last millisecond and no longer",
    mutate: (store) => ({
      claim: (request, signal) => store.claim({ ...request, loanMs: request.loanMs / 2 }, signal),
    }),
  },
  {
    fault: "lends everything for as long as the first",
    caughtBy: "each loan of one record has its own length",
    mutate(store) {
      let first: number | undefined;
      return { claim: (request, signal) => store.claim({ ...request, loanMs: (first ??= request.loanMs) }, signal) };
    },
  },
  {
    fault: "measures loans by the time of day",
    caughtBy: "a loan lasts as long when the clock is set",
    options: ({ clock }) => ({
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.now(),
        delay: (ms, signal) => clock.delay(ms, signal),
        every: (ms, tick) => clock.every(ms, tick),
        after: (ms, fire) => clock.after(ms, fire),
        turn: (run) => clock.turn(run),
      },
    }),
  },
  {
    fault: "charges a loan as a send",
    caughtBy: "a loan that lapses charges nothing",
    mutate(store, options) {
      const loans = new Map<string, number>();
      return onClaim((claim) => {
        const before = loans.get(claim.record.id) ?? 0;
        loans.set(claim.record.id, before + 1);
        return { ...claim, attempts: claim.attempts + before };
      })(store, options);
    },
  },
  {
    fault: "does not lend by id what is not due",
    caughtBy: "claimOne lends a record that is not due, and its attempts with it",
    mutate: (store, { clock }) => ({
      async claimOne(id, loanMs, signal) {
        const heads = free(await store.list({}, ALL, signal), clock);
        return heads.some((head) => head.id === id) ? store.claimOne(id, loanMs, signal) : undefined;
      },
    }),
  },
  {
    fault: "does not lend by id what is behind another of its key",
    caughtBy: "claimOne lends a record behind another of its key",
    mutate: (store) => ({
      async claimOne(id, loanMs, signal) {
        const heads = await store.list({}, ALL, signal);
        const key = heads.find((head) => head.id === id)?.orderingKey;
        const head = heads.find(({ orderingKey }) => key !== undefined && orderingKey === key);
        return head === undefined || head.id === id ? store.claimOne(id, loanMs, signal) : undefined;
      },
    }),
  },
  {
    fault: "knows nothing of keys",
    caughtBy: "while the head of a key waits for a retry the rest of it waits, and nothing else",
    mutate: onRecord(({ orderingKey: _key, ...record }) => record),
  },
  {
    fault: "thinks of heads that wait and not of those that are lent",
    caughtBy: "while the head of a key is lent the rest of it waits, and nothing else",
    mutate: choosing((heads, clock) =>
      unblocked(
        heads.filter(({ lent }) => !lent),
        clock,
      ),
    ),
  },
  {
    fault: "holds up a binding for one key",
    caughtBy: "while the head of a key waits for a retry the rest of it waits, and nothing else",
    mutate: choosing((heads, clock) => (free(heads, clock).length === heads.length ? heads : [])),
  },
  {
    fault: "takes records without a key for those of one key",
    caughtBy: "a record without a key that waits for a retry holds up nothing",
    mutate: choosing((heads, clock) =>
      unblocked(
        heads.map((head) => ({ ...head, orderingKey: head.orderingKey ?? "" })),
        clock,
      ),
    ),
  },
  {
    fault: "holds up the older records of a key for a younger one",
    caughtBy: "a record in the middle of a key holds up the younger ones, not the older",
    mutate: choosing((heads, clock) => {
      const waiting = heads.filter((head) => !free([head], clock).includes(head));
      return unblocked(heads, clock).filter((head) => !waiting.some((one) => one.orderingKey === head.orderingKey));
    }),
  },
  {
    fault: "lends one record of a key in a call",
    caughtBy: "one call may lend several of a key, in order, among others",
    mutate: choosing((heads, clock) =>
      unblocked(heads, clock).filter(
        ({ orderingKey }, i, all) =>
          orderingKey === undefined || all.findIndex((head) => head.orderingKey === orderingKey) === i,
      ),
    ),
  },
  {
    fault: "looks at the oldest hundred only",
    caughtBy: "finds what is due behind hundreds that wait",
    mutate: choosing((heads, clock) => unblocked(heads.slice(0, 100), clock)),
  },
  {
    fault: "holds up a key on all bindings",
    caughtBy: "keys are per route and binding",
    mutate: (store, { clock }) => ({
      async claim({ routeId, bindingId, limit, loanMs }, signal) {
        const heads = unblocked(await store.list({}, ALL, signal), clock).slice(0, limit);
        const here = heads.filter((head) => head.routeId === routeId && head.bindingId === bindingId);
        const claims = await Promise.all(here.map(({ id }) => store.claimOne(id, loanMs, signal)));
        return claims.flatMap((claim) => claim ?? []);
      },
    }),
  },
  {
    fault: "puts what is tried again behind what is new",
    caughtBy: "a record to be tried again keeps its place",
    mutate: choosing((heads, clock) => unblocked(heads, clock).toSorted((a, b) => a.dueAt - b.dueAt)),
  },
  {
    fault: "lends the rest of a key when its head is lent for a second time",
    caughtBy: "two owners that fail now and then keep the order of each key",
    mutate: choosing((heads, clock) =>
      free(
        heads.filter(({ lent, attempts }) => !lent || attempts === 0),
        clock,
      ),
    ),
  },
];
