import { setTimeout as delay } from "node:timers/promises";
import { deadLetter, isReady, KEY, type Metrics, readMetrics } from "./bridge-api.ts";
import type { Broker } from "./broker.ts";
import { LiveLine } from "./live-line.ts";
import { namesFor } from "./names.ts";
import type { Ports } from "./ports.ts";
import type { Publisher } from "./publisher.ts";

const REFRESH_MS = 500;
const PATIENCE_MS = 120_000;

export interface Scene {
  readonly ports: Ports;
  readonly broker: Broker;
  readonly publisher: Publisher;
}

/** Says what runs, lets messages flow, says what to try, and then how much has flowed, until `signal` aborts. */
export async function watch({ ports, broker, publisher }: Scene, signal: AbortSignal): Promise<void> {
  say(places(ports, broker));
  await until(() => isReady(ports), "the bridge did not get ready", signal);
  publisher.begin();
  const id = await until(() => deadLetter(ports), "no message was dead-lettered", signal);
  say(commands(ports, id));
  const line = new LiveLine(process.stdout);
  try {
    for (;;) {
      const metrics = await readMetrics(ports).catch(() => undefined);
      line.update(metrics === undefined ? "the bridge does not answer" : counts(metrics, publisher.published));
      await delay(REFRESH_MS, undefined, { signal });
    }
  } finally {
    line.end();
  }
}

function say(text: string): void {
  process.stdout.write(text);
}

async function until<T>(look: () => Promise<T>, otherwise: string, signal: AbortSignal): Promise<NonNullable<T>> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const found = await look().catch(() => undefined);
    if (found) return found;
    await delay(100, undefined, { signal });
  }
  throw new Error(`${otherwise} within ${PATIENCE_MS / 1_000} s`);
}

function places(ports: Ports, { url, embedded }: Broker): string {
  const { admin, monitor } = ports;
  const { root } = namesFor(ports);
  return `
Bridge quickstart (Ctrl-C ends it)

  broker   ${url}${embedded ? ", inside this process" : ", which was there already"}
  monitor  http://127.0.0.1:${monitor}/api/v1/monitor/ready
  admin    http://127.0.0.1:${admin}/api/v1/admin/bridge
  key      ${KEY}, in the header X-API-Key

Five times a second a reading goes from ${root}/readings/… to bridged/${root}/readings/…,
and an order goes to a web service that refuses every fifth one: the DLQ keeps those.
`;
}

function commands(ports: Ports, id: string): string {
  const { admin } = ports;
  const curl = `curl -sS -H 'X-API-Key: ${KEY}'`;
  const api = `http://127.0.0.1:${admin}/api/v1/admin`;
  const message = JSON.stringify({ subject: `${namesFor(ports).root}/readings/by-hand`, payload: btoa("hello") });
  return `
Put a message into a route:
  ${curl} -d '${message}' ${api}/routes/readings/inject

List dead letters:
  ${curl} '${api}/dlq/messages?limit=3'

Send one of them again; the web service takes it now:
  ${curl} -d '${JSON.stringify({ ids: [id] })}' ${api}/dlq/redrive

`;
}

function counts(metrics: Metrics, published: number): string {
  const legs = (route: string, disposition: string): number => metrics.sum("bridge_legs_total", { route, disposition });
  return [
    `published ${published}`,
    `readings ${legs("readings", "delivered")}`,
    `orders ${legs("orders", "delivered")}`,
    `DLQ ${legs("orders", "dead_lettered")}`,
    `redriven ${metrics.sum("bridge_dlq_redrives_total")}`,
    `in flight ${metrics.sum("bridge_legs_in_flight")}`,
  ].join(" · ");
}
