import type { BridgeView, RouteProgress } from "@bridge/core";
import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw, type Plan } from "../src/index.ts";
import { LateCalls } from "../src/model/late-calls.ts";
import type { Instance } from "../src/run/instance.ts";
import type { Instances } from "../src/run/instances.ts";
import { SendsSeen } from "../src/run/sends-seen.ts";
import { Watcher } from "../src/run/watcher.ts";
import type { World } from "../src/run/world.ts";
import { type Owner, VirtualTime } from "../src/time/virtual-time.ts";

const SEND_TIMEOUT_MS = 10_000;

/** What one instance says, and what the edges know. */
interface Scene {
  readonly says: Partial<Omit<BridgeView, "sessions">> & { readonly connected?: boolean };
  readonly progress: Partial<RouteProgress>;
  readonly connections: number;
  readonly paused: boolean;
  readonly holder: string;
  readonly plan: Partial<Plan>;
  /** What came of its sends to `out`, each second. */
  readonly sends: "accepted" | "refused" | "unanswered" | "none";
  /** Nothing is sent from then on. */
  readonly sendsUntil: number;
  /** It is stopped and started again so often, each time between two looks. */
  readonly stopsEachMs: number;
  /** In each minute it is for so long a standby that does not know who has the lease. */
  readonly standsByMs: number;
  /** So many calls of its processor were given up and go on. */
  readonly lateCalls: number;
  /** When the mood of its target last acted. */
  readonly moodyAt: number;
  readonly forMs: number;
}

const TRUE: Scene = {
  says: {},
  progress: {},
  connections: 1,
  paused: false,
  holder: "one",
  plan: {},
  sends: "accepted",
  sendsUntil: Infinity,
  stopsEachMs: Infinity,
  standsByMs: 0,
  lateCalls: 0,
  moodyAt: -Infinity,
  forMs: 400_000,
};

/** What somebody is told who watches that for as long. */
async function told(changes: Partial<Scene>): Promise<readonly string[]> {
  const scene = { ...TRUE, ...changes };
  const {
    says,
    progress,
    connections,
    paused,
    holder,
    plan,
    sends: came,
    sendsUntil,
    stopsEachMs,
    standsByMs,
    lateCalls: late,
    moodyAt,
    forMs,
  } = scene;
  const { outbox: _, ...drawn } = { ...draw(1), maxReplayAttempts: 10 };
  const { loanMs: __, ...broker } = drawn.broker;
  const time = new VirtualTime();
  const sends = new SendsSeen();
  sends.now = () => time.now;
  const owner: Owner = { name: "one", alive: true, pending: 0, paused };
  const lateCalls = new LateCalls();
  for (let calls = 0; calls < late; calls++) lateCalls.begins(owner);
  const violations: string[] = [];
  const { connected = true, ...rest } = says;
  const view = {
    state: "running",
    health: "ok",
    level: "full",
    role: "active",
    failures: [],
    sessions: [{ sessionId: "session", connected }],
    routes: [{ id: "route", progress: { progress: "moving", ...progress } }],
    ...rest,
  };
  const config = { routes: [{ id: "route", policy: { sendTimeoutMs: SEND_TIMEOUT_MS } }] };
  const { signal } = new AbortController();
  const standby = { ...view, level: "running", role: "standby" };
  const viewed = () => (time.now % 60_000 < standsByMs ? standby : view);
  const supervisor = { view: viewed, config: () => config, beyondRecovery: () => false, ending: signal };
  const instance = {
    name: "one",
    owner,
    supervisor,
    connections,
    thawedAt: -Infinity,
    get stops() {
      return Math.floor(time.now / stopsEachMs);
    },
  } as unknown as Instance;
  const world = {
    plan: { ...drawn, broker, faults: [], instances: 1, ...plan },
    time,
    sends,
    lateCalls,
    target: { moody: false, moodyAt },
    leases: { holder },
    auditor: { violated: (words: string) => violations.push(words) },
  } as unknown as World;
  new Watcher(world, {
    live: [instance],
    reloads: { done: true },
    commits: { done: true },
  } as unknown as Instances).begin();
  const send = (): void => {
    if (came !== "none" && time.now < sendsUntil) {
      const ended = sends.begins(owner, "out", { id: "m-0" }, new AbortController().signal);
      if (came === "accepted") ended(undefined);
      if (came === "refused") ended(new BridgeError("UNAVAILABLE", "no"));
    }
    time.at(time.now + 1_000, send);
  };
  time.at(500, send);
  await time.pass(forMs);
  return violations.map((words) => words.replace(/[\d.]+ s\b/g, "N s"));
}

test("what comes of a send counts for its binding, whichever address the binding had when the message came in", () => {
  const sends = new SendsSeen();
  const owner: Owner = { name: "one", alive: true, pending: 0 };
  const { signal } = new AbortController();
  sends.begins(owner, "out-elsewhere", { id: "m-0" }, signal)(new BridgeError("UNAVAILABLE", "no"));
  expect([...sends.of(owner)].map(([binding, { failures }]) => [binding, failures])).toEqual([["out", 1]]);
  sends.begins(owner, "out", { id: "m-1" }, signal)(undefined);
  expect([...sends.of(owner)].map(([binding, { failures }]) => [binding, failures])).toEqual([["out", 0]]);
});

test("a failure counts with those before it while one of them is news, or something is being sent", () => {
  const sends = new SendsSeen();
  const owner: Owner = { name: "one", alive: true, pending: 0 };
  const { signal } = new AbortController();
  let now = 0;
  sends.now = () => now;
  const begins = (ms: number, given = signal) => {
    now = ms;
    return sends.begins(owner, "out", { id: "m-0" }, given);
  };
  const fails = (ms: number): number | undefined => {
    begins(ms)(new BridgeError("UNAVAILABLE", "no"));
    return sends.of(owner).get("out")?.failures;
  };
  expect([fails(0), fails(58_999), fails(117_998)]).toEqual([1, 2, 3]);
  expect(fails(176_998)).toBe(1);
  const ended = begins(180_000);
  expect(fails(240_000)).toBe(2);
  ended(new Error("cancelled"));
  begins(241_000, AbortSignal.abort());
  expect(fails(300_000)).toBe(1);
});

test("what is true is told to nobody", async () => {
  expect(await told({})).toEqual([]);
  expect(
    await told({ says: { level: "subscribed", role: "standby", connected: false }, connections: 0, holder: "" }),
  ).toEqual([]);
  expect(await told({ progress: { progress: "waiting", reason: "an operator has paused it" }, paused: true })).toEqual(
    [],
  );
  expect(await told({ progress: { progress: "failing", reason: "out" }, sends: "refused" })).toEqual([]);
  // Several failures, and then nothing to do.
  expect(await told({ progress: { progress: "idle" }, sends: "refused", sendsUntil: 5_000 })).toEqual([]);
  // What was before a stop says nothing of what is now.
  expect(await told({ sends: "refused", stopsEachMs: 10_000 })).toEqual([]);
});

test("whose store of leases does not always answer in time may be without one for a while, and whose does may not", async () => {
  const { document } = draw(1);
  const leased = (latencyMs: number): Partial<Plan> => ({
    document: { ...document, bridge: { ...document.bridge, lease_ttl: "5000ms" } },
    leases: { latencyMs },
  });
  const words = "one says that it is ok and running, as standby, running, after N s of calm";
  expect(await told({ standsByMs: 10_000, plan: leased(300) })).toEqual([]);
  expect(await told({ standsByMs: 20_000, plan: leased(300) })).toEqual([words]);
  expect(await told({ standsByMs: 10_000, plan: leased(200) })).toEqual([words]);
});

test("a target whose mood has acted lately is not calm yet", async () => {
  const stalled: Partial<Scene> = { progress: { progress: "stalled", reason: "out" }, moodyAt: 200_000 };
  expect(await told({ ...stalled, forMs: 349_000 })).toEqual([]);
  expect(await told({ ...stalled, forMs: 352_000 })).toHaveLength(1);
});

const RUNS = { forMs: 100_000 };

test("who stands still for a processor that does not end may say so, and nothing worse", async () => {
  const failing = (error: string): Scene["says"] => ({
    health: "unhealthy",
    level: "subscribed",
    failures: [{ component: "route r", error }],
  });
  const standsStill = failing("processor p: calls that were given up do not end, so no more are made");
  const words = "one says that it is unhealthy (route r)";
  expect(await told({ lateCalls: 100, says: standsStill })).toEqual([]);
  expect(await told({ lateCalls: 99, says: standsStill, ...RUNS })).toEqual([words]);
  expect(await told({ lateCalls: 100, says: failing("x is undefined"), ...RUNS })).toEqual([words]);
});

test.each<readonly [string, Partial<Scene>, string]>([
  [
    "a connection that is lost",
    { connections: 0, ...RUNS },
    "one says that its session is connected, and has had no connection for N s",
  ],
  [
    "a level without a connection",
    { connections: 0, says: { connected: false }, ...RUNS },
    "one says that it is full, and has had no connection for N s",
  ],
  ["a lease that another has", { holder: "two", ...RUNS }, "one says that it is active while two has the lease"],
  ["a standby", { says: { role: "standby" }, holder: "", ...RUNS }, "one says that it is full, and is a standby"],
  ["health", { says: { health: "unhealthy" }, ...RUNS }, "one says that it is unhealthy ()"],
  [
    "a stop that has left a connection",
    { says: { state: "paused", health: "not_running" }, sends: "none", ...RUNS },
    "one says that it is not_running, and has a connection to the broker",
  ],
  [
    "a send after a stop",
    {
      says: { state: "paused", health: "not_running", level: "live", connected: false },
      connections: 0,
      sends: "unanswered",
      ...RUNS,
    },
    "one says that it is not_running, and sends",
  ],
  ["a pause", { paused: true, ...RUNS }, "one says that route is moving while it is paused"],
  [
    "a route that sends",
    { progress: { progress: "idle" }, sends: "unanswered", ...RUNS },
    "one says that route is idle, and sends to out for N s",
  ],
  [
    "a target that refuses",
    { sends: "refused", ...RUNS },
    "one says that route is moving, and nothing came of 25 sends to out in N s",
  ],
  [
    "a level after all is up",
    { says: { level: "connected" } },
    "one says that it is ok and connected, as active, running, after N s of calm",
  ],
  [
    "a progress after all is up",
    { progress: { progress: "stalled", reason: "out" } },
    "one says that route is stalled (out) after N s of calm",
  ],
])("what is false for too long is told, once: %s", async (_, lie, words) => {
  expect(await told(lie)).toEqual([words]);
});
