import { PATIENCE } from "@bridge/tooling/patience";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type FunctionMessage, handler, type HandlerContext } from "../src/index.ts";
import { bridge, ends, type TestBridge } from "./support/bridge.ts";

type Run = (message: FunctionMessage, context: HandlerContext) => unknown;

const boom = (): never => {
  throw new Error("boom");
};
const unreadable = new Proxy({}, { get: boom, has: boom, getPrototypeOf: boom });
const unreadableError = Object.defineProperties(new Error("rude"), { message: { get: boom }, stack: { get: boom } });
const later = (run: () => void): unknown => setImmediate(run);

/** What somebody may throw. */
const THROWN: Readonly<Record<string, unknown>> = {
  "an error": new Error("rude"),
  nothing: undefined,
  null: null,
  "a text": "rude",
  "a long text": "x".repeat(100_000),
  "a number": 5,
  "a BigInt": 5n,
  "a symbol": Symbol("rude"),
  "a function": boom,
  "a frozen error": Object.freeze(new Error("rude")),
  "an error that cannot be read": unreadableError,
  "an error without a message": Object.create(Error.prototype) as unknown,
  "what cannot be read": unreadable,
  "an object without a prototype": Object.create(null) as unknown,
  "an error of another kind": { name: "Error", message: "rude", code: "REJECTED", charged: false },
};

type Then = (resolve: () => void, reject: (error: unknown) => void) => void;
const withThen = (then: PropertyDescriptor, object: object = {}): unknown =>
  // oxlint-disable-next-line unicorn/no-thenable -- what a rude handler returns
  Object.defineProperty(object, "then", then);
const thenable = (then: Then): unknown => withThen({ value: then });

/** Ways to fail that are not a throw of something. */
const FAILING: Readonly<Record<string, Run>> = {
  "returns a thenable that throws": () => thenable(boom),
  "returns a thenable that cannot be read": () => withThen({ get: boom }),
  "returns what cannot be read": () => unreadable,
  "returns a thenable that rejects and resolves": () =>
    thenable((resolve, reject) => {
      reject(new Error("rude"));
      resolve();
    }),
  "returns a thenable that rejects, and throws later": () =>
    thenable((_resolve, reject) => {
      reject(null);
      boom();
    }),
  "resolves with a promise that rejects": async () => Promise.resolve().then(boom),
  "fails by a promise of its own kind": () => {
    class OwnPromise extends Promise<void> {}
    return OwnPromise.reject(new Error("rude"));
  },
};

const NEVER: Readonly<Record<string, Run>> = {
  "never settles": () => new Promise(() => {}),
  "never settles, and ignores the end of its signal": (_message, { signal }) => {
    signal.addEventListener("abort", () => {});
    return new Promise(() => {});
  },
  "returns a thenable that calls back never": () => thenable(() => {}),
};

/** Ways to accept. */
const ACCEPTING: Readonly<Record<string, Run>> = {
  "returns nothing": () => {},
  "resolves later": () => new Promise((resolve) => later(() => resolve(undefined))),
  "returns a thenable that resolves twice": () =>
    thenable((resolve) => {
      resolve();
      resolve();
    }),
  "returns a thenable that resolves and rejects": () =>
    thenable((resolve, reject) => {
      resolve();
      reject(new Error("too late"));
      boom();
    }),
  "returns a thenable that calls back after the end": () =>
    thenable((resolve, reject) => {
      resolve();
      later(() => reject(new Error("too late")));
      later(resolve);
    }),
  "returns a promise that others have bent": () => withThen({ value: boom }, Promise.resolve()),
  "asks for the signal after the end": (_message, context) => void later(() => context.signal.throwIfAborted()),
  "spoils its message": (message) => {
    message.payload.fill(0);
    for (const name of Object.keys(message.headers)) delete message.headers[name];
    Object.setPrototypeOf(message, null);
  },
};

interface Manner {
  readonly name: string;
  readonly run: Run;
  readonly ends: "delivered" | "dead_lettered";
}

const MANNERS: readonly Manner[] = [
  ...Object.entries(THROWN).flatMap(([what, thrown]): Manner[] => [
    {
      name: `throws ${what}`,
      run: () => {
        throw thrown;
      },
      ends: "dead_lettered",
    },
    { name: `rejects with ${what}`, run: () => Promise.reject(thrown), ends: "dead_lettered" },
  ]),
  ...Object.entries({ ...FAILING, ...NEVER }).map(([name, run]) => ({ name, run, ends: "dead_lettered" as const })),
  ...Object.entries(ACCEPTING).map(([name, run]) => ({ name, run, ends: "delivered" as const })),
];

const byName = new Map(MANNERS.map((manner) => [manner.name, manner]));
const POLICY = {
  send_timeout: "250ms",
  // A machine that is busy may be late twice.
  max_replay_attempts: 3,
  backoff: { initial_interval: "1ms", max_interval: "1ms", multiplier: 1, jitter: 0 },
};

const run: Run = (message, context) => byName.get(message.subject)?.run(message, context);
const HANDLERS = {
  single: () => handler(run),
  // One message each: what a manner returns is for one.
  batch: () =>
    handler.batch(async ([message], context) => void (await run(message!, context)), { size: 1, within: "1ms" }),
} as const;

async function ended(route: TestBridge, counts: Readonly<Record<string, number>>): Promise<void> {
  await vi.waitFor(() => expect(ends(route)).toMatchObject(counts), PATIENCE);
}

function counted(manners: readonly Manner[], plain: number) {
  const delivered = manners.filter((manner) => manner.ends === "delivered").length;
  return { delivered: delivered + plain, dead_lettered: manners.length - delivered };
}

describe.each(["single", "batch"] as const)(
  "whatever a %s handler does, others go on and the bridge is well",
  (kind) => {
    test.each(["direct_hold", "shared_outbox"] as const)(
      "in %s",
      async (delivery) => {
        const some = fc.array(fc.constantFrom(...MANNERS), { minLength: 1, maxLength: 30 });
        await fc.assert(
          fc.asyncProperty(some, async (manners) => {
            await using route = await bridge({ handlers: { out: HANDLERS[kind]() }, policy: POLICY, delivery });
            for (const { name } of manners) {
              route.hub.publish("in", { subject: name, payload: "rude", headers: { plain: "1" } });
              route.hub.publish("in", { subject: "plain", payload: "plain" });
            }
            await ended(route, counted(manners, manners.length));
            for (const { errorCode, lastError } of await route.deadLetters()) {
              expect(["INTERNAL", "TIMEOUT"]).toContain(errorCode);
              expect(lastError).not.toBe("");
            }
            const { unaccounted, routes } = route.supervisor.stats();
            const { health, failures } = route.supervisor.view();
            expect({ unaccounted, inFlight: routes[0]?.inFlight, health, failures }).toEqual({
              unaccounted: 0,
              inFlight: 0,
              health: "ok",
              failures: [],
            });
          }),
          { numRuns: 8 },
        );
      },
      120_000,
    );
  },
);

test("every manner ends as it should", async () => {
  await using route = await bridge({ handlers: { out: handler(run) }, policy: POLICY });
  for (const { name } of MANNERS) route.hub.publish("in", { subject: name, payload: "rude" });
  await ended(route, counted(MANNERS, 0));
  const failed = new Set((await route.deadLetters()).map(({ envelope }) => envelope.subject));
  expect(failed).toEqual(new Set(MANNERS.filter((manner) => manner.ends === "dead_lettered").map(({ name }) => name)));
});

test("a hundred handlers that do not heed their signal: the route stands still, and goes on when they have ended", async () => {
  const work = Promise.withResolvers<void>();
  let calls = 0;
  const stuck = handler(() => (calls++ < 100 ? work.promise : undefined));
  const policy = { ...POLICY, send_timeout: "20ms", max_replay_attempts: 1, max_in_flight: 150 };
  await using route = await bridge({ handlers: { out: stuck }, policy });
  for (let count = 0; count < 100; count++) route.hub.publish("in", { payload: `${count}` });
  await ended(route, { dead_lettered: 100 });
  route.hub.publish("in", { payload: "later" });
  await vi.waitFor(() => expect(route.supervisor.stats().routes[0]?.inFlight).toBe(1), PATIENCE);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toBe(100);
  work.resolve();
  await ended(route, { delivered: 1 });
});
