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

/** What answers though no store does, and why. */
const NOT_OF_A_STORE: Readonly<Record<string, string>> = {
  "/session": "the key",
  "/bridge": "the process",
  "/routes": "the process",
  "/topology": "the process",
  "/events": "a stream, which tells what it can",
  "/routes/alarms/tail": "a stream of the process",
  "/messages/e1": "says that it is not complete",
  "/series": "the process",
  "/conditions": "the process",
  "/config/transactions/{txnID}": "a transaction is of the process",
  "/config/transactions/{txnID}/diff": "a transaction is of the process",
};
/** What adds to a store as a look would, and what needs one before it does anything. */
const AS_LOOKS = new Set(["/dlq/annotate", "/dlq/messages/e1/redrive"]);

const ROWS: readonly SampleCall[] = [
  ...[...CALLS, ...BRIDGELESS_CALLS, ...CONFIG_CALLS]
    .filter(({ method, path }) => method === "GET" || AS_LOOKS.has(path))
    .filter(({ path }) => path !== "/messages" && NOT_OF_A_STORE[path] === undefined),
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

describe("an admin server whose stores do not answer", () => {
  it.each([
    ["say nothing", () => new Promise<void>(() => {})],
    ["are away", () => Promise.reject(new BridgeError("UNAVAILABLE", "the store is away"))],
  ])("says so with 503, whatever is looked for, within its bound, when they %s", async (_, behave) => {
    const { admin, become } = await startWithStores();
    const { body } = await admin.call("POST", "/dlq/jobs", { kind: "redrive", filter: {}, reason: "r" });
    const { id, plan } = body as { readonly id: string; readonly plan: { readonly hash: string } };
    become(behave);
    const answers = await Promise.all(
      ROWS.map(async ({ method, path, body: given }) => {
        const sent = given && JSON.stringify(given).replace("{hash}", plan.hash);
        const answer = await admin.call(method, path.replace("{id}", id), sent);
        const { error } = answer.body as { readonly error?: string };
        return { row: `${method} ${path}`, status: answer.status, says: error };
      }),
    );
    const why = /did not answer|the store is away|not read (in|within)/;
    expect(answers.filter(({ status, says = "" }) => status !== 503 || !why.test(says))).toEqual([]);
    admin.faults.store = undefined;
    await admin[Symbol.asyncDispose]();
  });
});
