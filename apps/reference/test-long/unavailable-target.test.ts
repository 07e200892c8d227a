import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { ask, eventually, probe } from "../test/support/ask.ts";
import { ADMIN_KEY, Folder, HTTP } from "../test/support/folder.ts";
import { Mosquitto } from "../test/support/mosquitto.ts";
import { publish } from "../test/support/publish.ts";
import { Tally } from "./support/tally.ts";
import { until } from "../test/support/until.ts";

const OUTAGE_MS = 60_000;
const PER_SECOND = 500;
const MESSAGES = (PER_SECOND * OUTAGE_MS) / 1_000;
/** After the number of the message. Over the outage more is offered than the bridge may ever hold. */
const PADDING = " ".repeat(4_000);
/** What a heap may move by itself; all that is offered would be 120 MB. */
const GROWTH_MIB = 24;

test("a target that answers 503 for a minute and then 200 loses nothing, and memory stays flat meanwhile", async () => {
  using folder = new Folder();
  await using broker = await Mosquitto.start(folder);
  const tally = new Tally(MESSAGES);
  let refused = 0;
  let available = false;
  const target = createServer((request, response) => {
    void text(request).then((body) => {
      if (available) tally.add(body);
      else refused++;
      response.writeHead(available ? 200 : 503).end();
    });
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  try {
    const { port } = target.address() as AddressInfo;
    folder.write(
      "bridge.yaml",
      `${HTTP}
bridge: {id: outage}
sessions: [{id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:${broker.port}"]}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in}]}]
senders: [{id: web, transport: http, options: {url: "http://127.0.0.1:${port}"}}]
bindings: [{id: to-web, sender_id: web}]
stores: {dlq: {type: memory, options: {acknowledge_volatile: true}}}
routes: [{id: only, receiver_id: in, bindings: [to-web], policy: {replay_budget: 10m, backoff: {max_interval: 10s}}}]
`,
    );
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    const admin = await bridge.url("admin");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => status === 200,
    );

    const published = publish(broker.port, ["-t", "in"], paced());
    published.catch(() => {});
    const memory: number[] = [];
    for (const end = performance.now() + OUTAGE_MS; performance.now() < end; await delay(1_000)) {
      memory.push(residentMiB(bridge.pid));
    }
    available = true;
    const recovering = performance.now();
    await published;
    await until(
      "all arrived",
      () => tally.different === MESSAGES,
      () => tally.different,
    );
    const recoverySeconds = (performance.now() - recovering) / 1_000;

    const third = Math.floor(memory.length / 3);
    const early = median(memory.slice(third, 2 * third));
    const late = median(memory.slice(2 * third));
    console.log(
      `${MESSAGES} messages of 4 KB, ${refused} answers of 503, then all delivered in ${recoverySeconds.toFixed(1)} s, ${tally.repeats} twice; ` +
        `resident memory: ${memory[0]?.toFixed(0)} MiB at first, ${early.toFixed(0)} in the middle third of the outage, ${late.toFixed(0)} in the last, ` +
        `${Math.max(...memory).toFixed(0)} at most, ${residentMiB(bridge.pid).toFixed(0)} after it`,
    );
    expect(tally.missing).toEqual([]);
    expect(tally.repeats).toBe(0);
    expect(refused).toBeGreaterThan(0);
    expect(late - early).toBeLessThan(GROWTH_MIB);
    expect(await ask(`${admin}/api/v1/admin/dlq`)).toMatchObject({ body: { count: 0 } });
    const metrics = await fetch(`${monitor}/api/v1/monitor/metrics`, { headers: { "X-API-Key": ADMIN_KEY } });
    expect(await metrics.text()).toMatch(/^bridge_unaccounted_messages 0$/m);
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  } finally {
    target.close();
    target.closeAllConnections();
  }
});

/** As many a second as {@link PER_SECOND} says, for as long as the outage lasts. */
async function* paced(): AsyncGenerator<string> {
  const startedAt = performance.now();
  for (let number = 0; number < MESSAGES; number++) {
    const ahead = (number / PER_SECOND) * 1_000 - (performance.now() - startedAt);
    if (ahead > 20) await delay(ahead);
    yield `${number}${PADDING}`;
  }
}

function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1_024;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
