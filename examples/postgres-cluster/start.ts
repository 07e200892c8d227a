/**
 * `pnpm run postgres-cluster`: a database, an MQTT broker, something that publishes, a web service, and two instances of the
 * reference binary that share a lease, an outbox and dead letters on PostgreSQL. @module
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { type Command, Instance, type Place, stateOf } from "../cluster/instance.ts";
import { openReadings } from "../cluster/readings.ts";
import { findBroker } from "../quickstart/broker.ts";
import { LiveLine } from "../quickstart/live-line.ts";
import { commands } from "./commands.ts";
import { openDatabase } from "./database.ts";
import { openService } from "./service.ts";

const BINARY = fileURLToPath(new URL("../../apps/reference/dist/main.js", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("bridge.yaml", import.meta.url));
const ADMIN_KEY = "postgres-cluster-admin-key";
const REFRESH_MS = 500;
const SETTLE_MS = 20_000;
const ENDS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    broker: { type: "string", default: "1883" },
    "admin-a": { type: "string", default: "8380" },
    "monitor-a": { type: "string", default: "8381" },
    "admin-b": { type: "string", default: "8390" },
    "monitor-b": { type: "string", default: "8391" },
  },
});

if (!existsSync(BINARY)) throw new Error("the bridge is not built: run this as pnpm run postgres-cluster");
const over = new AbortController();
for (const signal of ENDS) process.once(signal, () => over.abort());

await using stack = new AsyncDisposableStack();
const database = stack.use(await openDatabase(values.database ?? env["DATABASE"]));
// A broker that others use, too, keeps the session of each run apart.
const run = randomBytes(4).toString("hex");
const clientId = `bridge-postgres-cluster-${run}`;
const broker = stack.use(await findBroker(Number(values.broker), clientId));
const service = stack.use(await openService());
const folder = await mkdtemp(join(tmpdir(), "bridge-postgres-cluster-"));
const places: readonly Place[] = (["a", "b"] as const).map((name) => ({
  name,
  admin: Number(values[`admin-${name}`]),
  monitor: Number(values[`monitor-${name}`]),
  log: join(folder, `${name}.log`),
}));
const topic = `postgres-cluster/${run}/readings`;

const commandFor = ({ name, admin, monitor }: Place): Command => ({
  file: BINARY,
  args: ["-config", DOCUMENT, "-start-empty=false"],
  env: {
    INSTANCE: `plant-7-${name}`,
    ADMIN_ADDR: `127.0.0.1:${admin}`,
    MONITOR_ADDR: `127.0.0.1:${monitor}`,
    ADMIN_KEY,
    DATABASE_URL: database.url,
    BROKER_URL: broker.url,
    CLIENT_ID: clientId,
    TOPIC: topic,
    TARGET_URL: service.url,
  },
});

say("\nA cluster of two on PostgreSQL (Ctrl-C ends it)\n\n");
const [first] = places.map(commandFor);
const made = await promisify(execFile)(process.execPath, [BINARY, "-config", DOCUMENT, "-create-tables"], {
  ...(first !== undefined && { env: first.env }),
});
say(made.stdout);

const line = new LiveLine(process.stdout);
const instances = places.map((place) =>
  stack.use(
    new Instance(place, commandFor(place), (how) => {
      line.end();
      say(`instance ${place.name} has ended with ${how}; an orchestrator would start it again: so do we, in 8 s\n`);
    }),
  ),
);
say(commands(places, database.url, ADMIN_KEY));
const readings = stack.use(await openReadings(broker.url, topic));
const counts = (): string => `published ${readings.published} · taken ${service.taken} · refused ${service.refused}`;
while (!over.signal.aborted) {
  const states = await Promise.all(instances.map((instance) => stateOf(instance)));
  // What is published before anybody has ever subscribed, the broker keeps for nobody.
  if (states.some((state) => state.includes("active full"))) readings.begin();
  line.update([counts(), ...states].join(" · "));
  await delay(REFRESH_MS, undefined, { signal: over.signal }).catch(() => {});
}
readings.end();
line.end();
const accounted = (): number => service.taken + service.refused;
for (const until = performance.now() + SETTLE_MS; accounted() < readings.published && performance.now() < until;) {
  await delay(100);
}
say(`${counts()}; unaccounted ${readings.published - accounted()}, twice ${service.repeated}\n`);

function say(text: string): void {
  process.stdout.write(text);
}
