import type { AuditHistory } from "@bridge/audit";
import { BridgeError, type Clock, systemClock } from "@bridge/ports";
import { describe, expect, it } from "vitest";
import { instead } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { BRIDGELESS_CALLS, CALLS, CONFIG_CALLS, JOB_CALLS, type SampleCall } from "./calls.ts";
import { startTransactional, storeWith, type Transactional } from "./transactional.ts";

/** Time goes by so much faster once the stores do not answer, and what is to come later than a bound never comes. */
const HURRY = 20;
const LONGEST_MS = 20_000;
const LONGEST_OF_CONFIG_MS = 30_000;

const A_TRANSACTION = "/config/transactions/{txnID}";
/** What answers though no store does, or within another bound, and why. */
const NOT_OF_A_STORE: Readonly<Record<string, string>> = {
  "/session": "the key",
  "/bridge": "the process",
  "/bridge/start": "the process",
  "/bridge/stop": "the process",
  "/routes": "the process",
  "/routes/alarms/inject": "the route",
  "/routes/alarms/pause": "the process",
  "/routes/alarms/resume": "the process",
  "/topology": "the process",
  "/events": "a stream, which tells what it can",
  "/routes/alarms/tail": "a stream of the process",
  "/messages": "refused: it asks for nothing",
  "/messages/e1": "says that it is not complete",
  "/series": "the process",
  "/conditions": "the process",
  "/audit/verify": "reads all that is kept, in 60 s",
  "/dlq/acknowledge-damage": "a list of the process",
  "/outbox/acknowledge-damage": "a list of the process",
  "/dlq/import": "one line after another, each with its error",
  "/outbox/dead-letter": "one record after another, each with its error",
  "/config/confirm": "no probation is open",
  "/config/revert": "no probation is open",
  [A_TRANSACTION]: "a transaction is of the process",
  [`${A_TRANSACTION}/document`]: "a transaction is of the process",
  [`${A_TRANSACTION}/diff`]: "a transaction is of the process",
  [`${A_TRANSACTION}/validate`]: "a transaction is of the process",
  [`${A_TRANSACTION}/commit`]: "a commit tells its own outcome",
};
/** What says it of each entry; of another one than is redriven alone meanwhile. */
const REDRIVE = { method: "POST", path: "/dlq/redrive", body: { ids: ["e2"] }, action: "dlq.redrive" } as const;
/** What asks the store for nothing but a change. */
const CHANGES = new Set(["/dlq/annotate", "/dlq/delete", "/dlq/delete-by-filter", "/dlq/purge"]);

const ROWS: readonly SampleCall[] = [
  ...[...CALLS, ...BRIDGELESS_CALLS, ...CONFIG_CALLS].filter(
    ({ path }) => NOT_OF_A_STORE[path] === undefined && path !== REDRIVE.path,
  ),
  REDRIVE,
  { method: "GET", path: "/messages?correlation_id=c", action: "message.trace" },
  ...JOB_CALLS,
];

/** A store that does what every call of it is told to. */
function behaving<Store extends object>(store: Store, behave: () => Promise<void> | undefined): Store {
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value === "object" && value !== null) return behaving(value, behave);
      if (typeof value !== "function" || typeof property === "symbol") return value;
      return async (...given: unknown[]) => {
        await behave();
        return (value as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });
}

interface Stores {
  readonly admin: Transactional;
  /** From now on no store does anything else. */
  readonly become: (behave: () => Promise<void>) => void;
}

async function startWithStores(): Promise<Stores> {
  let behave: (() => Promise<void>) | undefined;
  const within = (longestMs: number): Clock => ({
    ...systemClock,
    after: (ms, fire) => {
      if (behave === undefined) return systemClock.after(ms, fire);
      return ms > longestMs ? { [Symbol.dispose]() {} } : systemClock.after(ms / HURRY, fire);
    },
  });
  const wrapped = <Store extends object>(store: Store): Store => behaving(store, () => behave?.());
  const history: AuditHistory = {
    read: async () => ({ events: [] }),
    verify: async () => ({ records: 0, head: "" }),
  };
  const admin = await startTransactional({
    outbox: true,
    clocks: { bridge: within(Infinity), transactions: within(LONGEST_OF_CONFIG_MS) },
    store: (store) =>
      storeWith({
        load: async (signal) => (await behave?.(), store.load(signal)),
        ...(store.history !== undefined && { history: wrapped(store.history) }),
      })(store),
    admin: {
      clock: within(LONGEST_MS),
      history: wrapped(history),
      seenAs: (supervisor) => {
        const outbox = supervisor.outbox();
        return outbox && instead("outbox", () => wrapped(outbox))(supervisor);
      },
    },
  });
  await keep(admin, deadLetter("e1"));
  return {
    admin,
    become: (next) => {
      behave = next;
      admin.faults.store = next;
    },
  };
}

/** What is told of a change of which the store does not say what became of it. */
const UNSURE = /; (the|up to 1000) entries may be (deleted|marked) or not: .*repeat the call/;

/** What the engine knows at its own bound; why it is so, and what to do, knows the store. */
const WITHOUT_CAUSE = /store did not answer$/;

interface Said {
  readonly error?: string;
  readonly errors?: readonly { readonly error: string }[];
}

describe("an admin server whose stores do not answer", () => {
  it.each([
    ["say nothing", () => new Promise<void>(() => {})],
    ["are away", () => Promise.reject(new BridgeError("UNAVAILABLE", "the store is away"))],
  ])(
    "says so with 503, or of each entry, whatever is asked of them, within its bound, when they %s",
    async (_, behave) => {
      const { admin, become } = await startWithStores();
      const { body } = await admin.call("POST", "/dlq/jobs", { kind: "redrive", filter: {}, reason: "r" });
      const { id, plan } = body as { readonly id: string; readonly plan: { readonly hash: string } };
      become(behave);
      const answers = await Promise.all(
        ROWS.map(async ({ method, path, body: given }) => {
          const sent = given && JSON.stringify(given).replace("{hash}", plan.hash);
          const answer = await admin.call(method, path.replace("{id}", id), sent);
          const { error, errors } = answer.body as Said;
          return { path, row: `${method} ${path}`, status: answer.status, says: error ?? errors?.[0]?.error ?? "" };
        }),
      );
      const why = /did not answer|the store is away|not read (in|within)/;
      const wrong = answers.filter(
        ({ path, status, says }) =>
          status !== (path === REDRIVE.path ? 207 : 503) ||
          !why.test(says) ||
          (status === 503 && WITHOUT_CAUSE.test(says)) ||
          UNSURE.test(says) !== CHANGES.has(path),
      );
      expect(wrong).toEqual([]);
      admin.faults.store = undefined;
      await admin[Symbol.asyncDispose]();
    },
  );
});
