import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { ask, eventually, probe } from "../test/support/ask.ts";
import { ADMIN_KEY, Folder, HTTP } from "../test/support/folder.ts";
import { Mosquitto } from "../test/support/mosquitto.ts";
import { publish } from "../test/support/publish.ts";
import { until } from "../test/support/until.ts";
import { Subscriber } from "./support/subscriber.ts";

const ROUNDS = 10;
const RELOADS_PER_ROUND = 10;
/** More often than anybody reloads; without it the time that reading a document takes would be measured. */
const BETWEEN_MS = 100;
const BATCH = 10;
const BATCH_EVERY_MS = 10;

interface Health {
  readonly config_watch: { readonly version: number };
}

test("a route that is reloaded 100 times under traffic loses nothing, nor does the other one on its session, which keeps its throughput", async () => {
  using folder = new Folder();
  await using broker = await Mosquitto.start(folder);
  const arrived = { r: new Map<string, number>(), q: new Map<string, number>() };
  const note = (route: "r" | "q") => (line: string) => {
    arrived[route].set(line, (arrived[route].get(line) ?? 0) + 1);
  };
  const { port } = broker;
  await using subscribers = new AsyncDisposableStack();
  subscribers.use(await Subscriber.open({ port, topic: "r/out", format: "%p", onLine: note("r") }));
  subscribers.use(await Subscriber.open({ port, topic: "q/out", format: "%p", onLine: note("q") }));
  folder.write("bridge.yaml", document(port, 0));
  await using bridge = folder.run();
  const monitor = await bridge.url("monitor");
  await eventually(
    () => probe(monitor, "ready"),
    ({ status }) => status === 200,
  );

  const over = new AbortController();
  const published = { r: 0, q: 0 };
  async function* lines(route: "r" | "q"): AsyncGenerator<string> {
    for (; !over.signal.aborted; await delay(BATCH_EVERY_MS))
      for (let i = 0; i < BATCH; i++) yield String(published[route]++);
  }
  const publishing = (["r", "q"] as const).map((route) => publish(port, ["-t", `${route}/in`], lines(route)));

  // Quiet and reloading stretches take turns, so that what else the machine does falls on both.
  const rates = { quiet: { messages: 0, ms: 0 }, reloading: { messages: 0, ms: 0 } };
  const during = async (what: keyof typeof rates, work: () => Promise<void>): Promise<number> => {
    const [messages, at] = [arrived.q.size, performance.now()];
    await work();
    const ms = performance.now() - at;
    rates[what].messages += arrived.q.size - messages;
    rates[what].ms += ms;
    return ms;
  };
  let version = 0;
  await until(
    "flowing",
    () => arrived.q.size > 500,
    () => arrived.q.size,
  );
  for (let round = 0; round < ROUNDS; round++) {
    const ms = await during("reloading", async () => {
      for (let reload = 0; reload < RELOADS_PER_ROUND; reload++) {
        folder.write("bridge.yaml", document(port, ++version));
        bridge.kill("SIGHUP");
        await eventually(
          () => ask(`${monitor}/api/v1/monitor/deephealth`),
          ({ body }) => (body as Health).config_watch.version === version,
        );
        await delay(BETWEEN_MS);
      }
    });
    await during("quiet", () => delay(ms));
  }
  over.abort();
  await Promise.all(publishing);
  const all = (): number => arrived.r.size + arrived.q.size;
  await until("all there", () => all() === published.r + published.q, all);

  const repeats = [...arrived.r.values(), ...arrived.q.values()].filter((times) => times > 1).length;
  expect(repeats).toBe(0);
  const metrics = await (await fetch(`${monitor}/api/v1/monitor/metrics`, { headers: KEY })).text();
  expect(metrics).toMatch(/^bridge_unaccounted_messages 0$/m);
  expect(metrics).toMatch(/^bridge_session_connects_total\{session="broker"\} 2$/m);
  const perMs = ({ messages, ms }: { readonly messages: number; readonly ms: number }): number => messages / ms;
  const ratio = perMs(rates.reloading) / perMs(rates.quiet);
  console.log(`${version} reloads, ${all()} messages; the other route: ${ratio.toFixed(2)} of its quiet throughput`);
  expect(ratio).toBeGreaterThan(0.9);
});

const KEY = { "X-API-Key": ADMIN_KEY };

function document(port: number, version: number): string {
  const policy = `policy: {max_replay_attempts: ${5 + version}, on_permanent_failure: drop, on_expired: drop}`;
  return `${HTTP}
config_version: ${version}
bridge: {id: reloaded}
sessions:
  - {id: broker, transport: mqtt, session_mode: persistent, options: {broker_urls: ["mqtt://127.0.0.1:${port}"]}}
receivers:
  - {id: r-in, session_id: broker, topics: [{topic: r/in, qos: 1}]}
  - {id: q-in, session_id: broker, topics: [{topic: q/in, qos: 1}]}
senders: [{id: out, session_id: broker}]
bindings: [{id: r-out, sender_id: out, address: r/out}, {id: q-out, sender_id: out, address: q/out}]
routes:
  - {id: r, receiver_id: r-in, bindings: [r-out], ${policy}}
  - {id: q, receiver_id: q-in, bindings: [q-out], policy: {on_permanent_failure: drop, on_expired: drop}}
`;
}
