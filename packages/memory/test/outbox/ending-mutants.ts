import { setImmediate as turn } from "node:timers/promises";
import type { ClaimEnd } from "@bridge/ports";
import { type Mutant, type Mutate } from "./mutant.ts";

/** Faults of how loans end. */
export const ENDING_MUTANTS: readonly Mutant[] = [
  {
    fault: "says done of what was given up",
    caughtBy: "a record that is given up is dead",
    mutate: onEnd((end) => (end.outcome.kind === "dead" ? { ...end, outcome: { kind: "done" } } : end)),
  },
  {
    fault: "lends what is to be tried again at once",
    caughtBy: "a record to be tried again is lent when it is due, and not before",
    mutate: onEnd((end) => (end.outcome.kind === "retry" ? { ...end, outcome: { ...end.outcome, delayMs: 0 } } : end)),
  },
  {
    fault: "rounds the time of a retry to seconds",
    caughtBy: "a record is due in the millisecond that its retry names",
    mutate: onEnd((end) =>
      end.outcome.kind === "retry" ? { ...end, outcome: { ...end.outcome, delayMs: end.outcome.delayMs - 999 } } : end,
    ),
  },
  {
    fault: "adds the attempts that a retry tells to those before",
    caughtBy: "attempts are what the last retry said",
    mutate(store, options) {
      const sums = new Map<string, number>();
      return onEnd((end) => {
        if (end.outcome.kind !== "retry") return end;
        const attempts = (sums.get(end.id) ?? 0) + end.outcome.attempts;
        sums.set(end.id, attempts);
        return { ...end, outcome: { ...end.outcome, attempts } };
      })(store, options);
    },
  },
  {
    fault: "forgets a retry of no attempt",
    caughtBy: "a record to be tried again keeps its place",
    mutate: (store) => ({
      async finish(ends, signal) {
        const kept = ends.filter(({ outcome }) => outcome.kind !== "retry" || outcome.attempts > 0);
        const results = await store.finish(kept, signal);
        return ends.map((end) => results[kept.indexOf(end)] ?? true);
      },
    }),
  },
  {
    fault: "says yes to an end that was entered before",
    caughtBy: "a loan ends once",
    mutate(store) {
      const entered = new Set<string>();
      return {
        async finish(ends, signal) {
          const results = await store.finish(ends, signal);
          for (const [i, { token }] of ends.entries()) if (results[i]) entered.add(token);
          return ends.map(({ token }) => entered.has(token));
        },
      };
    },
  },
  {
    fault: "takes the end of a loan whoever says it",
    caughtBy: "what is said of a loan that somebody else has now is refused",
    mutate: takingAnyToken(),
  },
  {
    fault: "takes the end of a loan without its token",
    caughtBy: "what comes without the loan's token is refused",
    mutate: takingAnyToken(),
  },
  {
    fault: "looks at tokens and not at whose they are",
    caughtBy: "what comes without the loan's token is refused",
    mutate(store) {
      const owners = new Map<string, string>();
      return {
        async claim(request, signal) {
          const claims = await store.claim(request, signal);
          for (const { token, record } of claims) owners.set(token, record.id);
          return claims;
        },
        finish: (ends, signal) =>
          store.finish(
            ends.map((end) => ({ ...end, id: owners.get(end.token) ?? end.id })),
            signal,
          ),
      };
    },
  },
  {
    fault: "says yes to an end that comes late, and enters nothing",
    caughtBy: "of a loan that has lapsed it is told truly whether the end was entered",
    mutate(store, { clock }) {
      const until = new Map<string, number>();
      return {
        async claim(request, signal) {
          const claims = await store.claim(request, signal);
          for (const { token } of claims) until.set(token, clock.monotonic() + request.loanMs);
          return claims;
        },
        async finish(ends, signal) {
          const timely = ends.filter(({ token }) => clock.monotonic() < (until.get(token) ?? 0));
          const results = await store.finish(timely, signal);
          return ends.map((end) => results[timely.indexOf(end)] ?? true);
        },
      };
    },
  },
  {
    fault: "enters nothing of a call of which it refuses something",
    caughtBy: "answers for each end of a call, in its order",
    mutate: (store) => ({
      async finish(ends, signal) {
        const statuses = await Promise.all(ends.map(({ id }) => store.status(id, signal)));
        return statuses.every((status) => status === "pending") ? store.finish(ends, signal) : ends.map(() => false);
      },
    }),
  },
  {
    fault: "tells first which ends were entered",
    caughtBy: "answers for each end of a call, in its order",
    mutate: (store) => ({
      async finish(ends, signal) {
        return (await store.finish(ends, signal)).toSorted((a, b) => Number(b) - Number(a));
      },
    }),
  },
  {
    fault: "enters 500 ends at most",
    caughtBy: "ends hundreds of loans at once",
    mutate: (store) => ({
      async finish(ends, signal) {
        const results = await store.finish(ends.slice(0, 500), signal);
        return ends.map((_, i) => results[i] ?? true);
      },
    }),
  },
  {
    fault: "tells every racer that its end was entered",
    caughtBy: "of ends of one loan that race, one is entered",
    mutate: (store) => ({
      async finish(ends, signal) {
        const before = await Promise.all(ends.map(({ id }) => store.status(id, signal)));
        await turn();
        await store.finish(ends, signal);
        return before.map((status) => status === "pending");
      },
    }),
  },
];

function onEnd(change: (end: ClaimEnd) => ClaimEnd): Mutate {
  return (store) => ({ finish: (ends, signal) => store.finish(ends.map(change), signal) });
}

function takingAnyToken(): Mutate {
  return (store) => {
    const current = new Map<string, string>();
    return {
      async claim(request, signal) {
        const claims = await store.claim(request, signal);
        for (const { token, record } of claims) current.set(record.id, token);
        return claims;
      },
      finish: (ends, signal) =>
        store.finish(
          ends.map((end) => ({ ...end, token: current.get(end.id) ?? end.token })),
          signal,
        ),
    };
  };
}
