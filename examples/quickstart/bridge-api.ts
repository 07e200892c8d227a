import type { Ports } from "./ports.ts";

/** As examples/quickstart.yaml has it. */
export const KEY = "quickstart-admin-key";

const TIMEOUT_MS = 5_000;

/** Whether every route can carry messages. */
export async function isReady({ monitor }: Ports): Promise<boolean> {
  const answer = await get(`http://127.0.0.1:${monitor}/api/v1/monitor/ready`);
  await answer.body?.cancel();
  return answer.ok;
}

/** The id of a dead letter, once there is one. */
export async function deadLetter(ports: Ports): Promise<string | undefined> {
  // The metrics are asked first because reading them is no operator's act, of which the bridge keeps a record.
  const metrics = await readMetrics(ports);
  if (metrics.sum("bridge_legs_total", { disposition: "dead_lettered" }) === 0) return undefined;
  const answer = await get(`http://127.0.0.1:${ports.admin}/api/v1/admin/dlq/messages?limit=1`);
  const { messages } = (await answer.json()) as { messages: readonly { id: string }[] };
  return messages[0]?.id;
}

/** The bridge's counters and gauges: what `bridge_legs_total{route="orders",…}` and the like stand at. */
export async function readMetrics({ monitor }: Ports): Promise<Metrics> {
  const answer = await get(`http://127.0.0.1:${monitor}/api/v1/monitor/metrics`);
  return new Metrics(await answer.text());
}

export class Metrics {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split("\n");
  }

  /** The sum of a metric's samples, of those that have all `labels`. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return this.#lines
      .filter((line) => /^[^{ ]+/.exec(line)?.[0] === name && wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }
}

function get(url: string): Promise<Response> {
  return fetch(url, { headers: { "X-API-Key": KEY }, signal: AbortSignal.timeout(TIMEOUT_MS) });
}
