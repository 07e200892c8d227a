import { rows } from "@bridge/tooling/long";
import { describe, expect, test } from "vitest";
import { ask, eventually, probe } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { Folder, HTTP } from "./support/folder.ts";
import { Mosquitto, noMosquitto } from "./support/mosquitto.ts";
import { publish } from "./support/publish.ts";
import { type Manner, Target } from "./support/target.ts";
import { until } from "./support/until.ts";

const MODES = ["direct_hold", "shared_outbox"];
const MESSAGES = 40;
/** The listeners stop under one of it, the rest under a fresh one (spec 3.3). */
const SHUTDOWN_TIMEOUT_S = 10;

interface Scene {
  readonly folder: Folder;
  readonly broker: Mosquitto;
  readonly target: Target;
  readonly bridge: Binary;
}

/** What the bridge is in the middle of when the signal comes, and what happens then. */
interface Row {
  readonly when: string;
  /** It has not subscribed yet, so nothing has been published. */
  readonly starting?: boolean;
  /** What the target does until then. */
  readonly target: Manner;
  /** Resolves when the bridge is where the row wants it. */
  readonly reached: (scene: Scene) => Promise<unknown>;
  /** After the signal. */
  readonly after?: (scene: Scene) => unknown;
  readonly exit: number;
}

const ROWS: readonly Row[] = [
  { when: "nothing to do", target: "accepts", reached: allArrived, exit: 0 },
  { when: "it starts", starting: true, target: "accepts", reached: ({ bridge }) => bridge.url("monitor"), exit: 0 },
  {
    when: "sends in flight, which the target then accepts",
    target: "hangs",
    reached: someAsked,
    after: async ({ bridge, target }) => {
      await bridge.logged("shutting down");
      target.manner = "accepts";
    },
    exit: 0,
  },
  { when: "a target that hangs", target: "hangs", reached: someAsked, exit: 0 },
  { when: "a target that refuses, and retries that wait", target: "refuses", reached: someAsked, exit: 0 },
  {
    when: "the bridge stopped by an operator",
    target: "hangs",
    reached: async (scene) => {
      await someAsked(scene);
      expect(await admin(scene.bridge, "bridge/stop")).toMatchObject({ status: 200 });
    },
    exit: 0,
  },
  {
    when: "a stop under way",
    target: "hangs",
    reached: async (scene) => {
      await someAsked(scene);
      void admin(scene.bridge, "bridge/stop").catch(() => {});
      const monitor = await scene.bridge.url("monitor");
      await eventually(
        () => probe(monitor, "ready?level=running"),
        ({ status }) => status === 503,
      );
    },
    exit: 0,
  },
  {
    when: "a paused route",
    target: "hangs",
    reached: async (scene) => {
      await someAsked(scene);
      expect(await admin(scene.bridge, "routes/r/pause")).toMatchObject({ status: 200 });
    },
    exit: 0,
  },
  {
    when: "a broker that is frozen",
    target: "hangs",
    reached: async (scene) => {
      await someAsked(scene);
      scene.broker.freeze();
    },
    exit: 0,
  },
  {
    when: "a swap under way",
    target: "hangs",
    reached: async (scene) => {
      await someAsked(scene);
      const { bridge, folder } = scene;
      folder.write("bridge.yaml", folder.read("bridge.yaml").replace("max_in_flight: 10", "max_in_flight: 11"));
      await until(
        "swapping",
        () => bridge.log.some(({ to }) => to === "swapping"),
        () => bridge.log.length,
      );
    },
    exit: 0,
  },
  {
    when: "a second signal follows",
    target: "hangs",
    reached: someAsked,
    after: async ({ bridge }) => {
      await bridge.logged("shutting down");
      bridge.kill("SIGTERM");
    },
    exit: 2,
  },
];

describe.skipIf(noMosquitto).concurrent.each(MODES)("SIGTERM in %s, with", (mode) => {
  // The modes take turns, so that each row is there with one of them.
  test.each(rows(ROWS, (_, row) => row % MODES.length === MODES.indexOf(mode)))(
    "$when: exit code $exit, and nothing is lost",
    async (row) => {
      using folder = new Folder();
      await using broker = await Mosquitto.start(folder);
      await using target = await Target.open(row.target);
      folder.write("bridge.yaml", documentOf(mode, broker.port, target.url));
      await using bridge = folder.run();
      if (row.starting !== true) await publishTo(broker, bridge);
      const scene: Scene = { folder, broker, target, bridge };
      await row.reached(scene);
      const signalled = performance.now();
      bridge.kill("SIGTERM");
      await row.after?.(scene);
      expect(await bridge.ended).toBe(row.exit);
      expect(performance.now() - signalled).toBeLessThan(2 * SHUTDOWN_TIMEOUT_S * 1_000);

      broker.thaw();
      target.manner = "accepts";
      await using next = folder.run();
      if (row.starting === true) await publishTo(broker, next);
      await allArrived({ ...scene, bridge: next });
      const restarted = await next.url("admin");
      // Where nothing had to arrive, the store may still be about to open.
      const dlq = await eventually(
        () => ask(`${restarted}/api/v1/admin/dlq`),
        ({ status }) => status !== 503,
      );
      expect(dlq).toMatchObject({ body: { count: 0 } });
      expect([bridge, next].flatMap(({ log }) => log.filter(({ level }) => level === "error"))).toEqual([]);
      next.kill("SIGTERM");
      expect(await next.ended).toBe(0);
    },
  );
});

function documentOf(mode: string, port: number, target: string): string {
  return `${HTTP}
bridge: {id: matrix, shutdown_timeout: ${SHUTDOWN_TIMEOUT_S}s, drain_timeout: 2s, quiesce_timeout: 500ms}
stores:
  dlq: {type: file, options: {path: dlq.db}}
  outbox: {type: file, options: {path: outbox.db}}
sessions: [{id: broker, transport: mqtt, session_mode: persistent, options: {broker_urls: ["mqtt://127.0.0.1:${port}"]}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in, qos: 1}]}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes:
  - id: r
    receiver_id: in
    delivery_mode: ${mode}
    bindings: [to-out]
    policy: {max_in_flight: 10, max_replay_attempts: 1000, backoff: {initial_interval: 50ms, max_interval: 100ms}}
`;
}

function* numbers(): Generator<string> {
  for (let number = 0; number < MESSAGES; number++) yield String(number);
}

/** The broker keeps what is published from the bridge's first subscription on. */
async function publishTo(broker: Mosquitto, bridge: Binary): Promise<void> {
  const monitor = await bridge.url("monitor");
  await eventually(
    () => probe(monitor, "ready"),
    ({ status }) => status === 200,
  );
  await publish(broker.port, ["-t", "in"], numbers());
}

async function someAsked({ target }: Scene): Promise<void> {
  await until(
    "asked",
    () => target.asked > 0,
    () => target.asked,
  );
}

async function allArrived({ target }: Scene): Promise<void> {
  await until(
    "all arrived",
    () => new Set(target.accepted).size === MESSAGES,
    () => target.accepted.length,
  );
}

function admin(bridge: Binary, path: string): ReturnType<typeof ask> {
  return bridge.url("admin").then((url) => ask(`${url}/api/v1/admin/${path}`, { method: "POST" }));
}
