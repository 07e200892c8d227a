/**
 * `pnpm run aws-cluster`: emulators of AWS, an MQTT broker, something that publishes, and two instances of bridge-aws
 * that share a configuration, a lease and dead letters in DynamoDB and carry the readings to SQS. @module
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Instance, type Place, stateOf } from "../cluster/instance.ts";
import { openReadings } from "../cluster/readings.ts";
import { findBroker } from "../quickstart/broker.ts";
import { LiveLine } from "../quickstart/live-line.ts";
import { arrivals } from "./arrivals.ts";
import { openAws } from "./aws.ts";
import { BRIDGE_ID, CONFIG_TABLE, configuration, TOPIC } from "./configuration.ts";
import { ADMIN_PARAMETER, commandFor, createTables } from "./instances.ts";
import { commands } from "./tell.ts";

const ADMIN_KEY = "aws-cluster-admin-key";
const REFRESH_MS = 500;
const ENDS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const { values } = parseArgs({
  options: {
    broker: { type: "string", default: "1883" },
    "admin-a": { type: "string", default: "8280" },
    "monitor-a": { type: "string", default: "8281" },
    "admin-b": { type: "string", default: "8290" },
    "monitor-b": { type: "string", default: "8291" },
  },
});

const over = new AbortController();
for (const signal of ENDS) process.once(signal, () => over.abort());

await using stack = new AsyncDisposableStack();
const broker = stack.use(await findBroker(Number(values.broker), "bridge-aws-cluster"));
const aws = stack.use(await openAws());
aws.setParameter(ADMIN_PARAMETER, ADMIN_KEY);
const folder = await mkdtemp(join(tmpdir(), "bridge-aws-cluster-"));
const places: readonly Place[] = (["a", "b"] as const).map((name) => ({
  name,
  admin: Number(values[`admin-${name}`]),
  monitor: Number(values[`monitor-${name}`]),
  log: join(folder, `${name}.log`),
}));
const [first] = places;
if (first === undefined) throw new Error("no place for an instance");

say("\nA cluster of two on emulators of AWS (Ctrl-C ends it)\n\n");
say(await createTables(first, aws.env));
await aws.putConfiguration(CONFIG_TABLE, BRIDGE_ID, configuration(broker.url, aws.queueUrl));
say(await createTables(first, aws.env));

const line = new LiveLine(process.stdout);
const instances = places.map((place) =>
  stack.use(
    new Instance(place, commandFor(place, aws.env), (how) => {
      line.end();
      say(`instance ${place.name} has ended with ${how}; an orchestrator would start it again: so do we, in 8 s\n`);
    }),
  ),
);
say(commands(places, aws.parametersUrl, ADMIN_KEY));
const readings = stack.use(await openReadings(broker.url, TOPIC));
const arrived = stack.use(arrivals(aws));
while (!over.signal.aborted) {
  const states = await Promise.all(instances.map((instance) => stateOf(instance)));
  // What is published before anybody has ever subscribed, the broker keeps for nobody.
  if (states.some((state) => state.includes("active full"))) readings.begin();
  line.update([`published ${readings.published}`, `arrived ${arrived.distinct}`, ...states].join(" · "));
  await delay(REFRESH_MS, undefined, { signal: over.signal }).catch(() => {});
}
readings.end();
line.end();
await arrived.all(readings);
say(`all of ${readings.published} readings published, ${arrived.distinct} arrived\n`);

function say(text: string): void {
  process.stdout.write(text);
}
