import { PATIENCE } from "@bridge/tooling/patience";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";

/** A heap that the answers to a single attacker would fill, and what a process comes to with it. */
const SMALL_HEAP = "--max-old-space-size=96";
const RESIDENT_BOUND_MB = 300;
const ATTACK_MS = 5_000;

const ROUTES = Array.from(
  { length: 20 },
  (_, n) => `  - {id: route-${n}, receiver_id: in-${n}, bindings: [nowhere]}`,
).join("\n");
const RECEIVERS = Array.from(
  { length: 20 },
  (_, n) => `  - {id: in-${n}, transport: memory, options: {channel: c${n}}}`,
);
const DOCUMENT = `${HTTP}bridge: {id: test}
stores: {dlq: {type: memory, options: {acknowledge_volatile: true}}}
receivers:
${RECEIVERS.join("\n")}
  - {id: web, transport: http, options: {addr: "127.0.0.1:0"}}
senders: [{id: nothing, transport: memory, options: {discard: true}}]
bindings: [{id: nowhere, sender_id: nothing, address: x}]
routes:
${ROUTES}
  - {id: web, receiver_id: web, bindings: [nowhere]}
`;

const request = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

test("finding 5.1: 40 connections that send requests and never read do not make the process grow", async () => {
  using folder = new Folder();
  folder.write("bridge.yaml", DOCUMENT);
  await using bridge = folder.run([], { NODE_OPTIONS: SMALL_HEAP });
  const ports = await Promise.all((["monitor", "admin"] as const).map(async (name) => portOf(await bridge.url(name))));
  ports.push(Number((await bridge.logged("HTTP receiver listens"))["port"]));
  const monitor = await bridge.url("monitor");
  const texts = [
    request("/api/v1/monitor/live"),
    request("/api/v1/monitor/metrics", `X-API-Key: ${ADMIN_KEY}\r\n`),
    request("/nothing"),
    request("/api/v1/monitor/ready?level=no"),
  ].map((text) => text.repeat(Math.floor(262_144 / text.length)));
  const attackers = Array.from({ length: 40 }, (_, n) => {
    const socket = connect(ports[n % ports.length] ?? 0, "127.0.0.1")
      .on("error", () => {})
      .pause();
    const text = texts[n % texts.length] ?? "";
    const more = (error?: Error | null): void => {
      if (!error && socket.writable) socket.write(text, more);
    };
    return socket.on("connect", () => more());
  });
  let resident = 0;
  try {
    for (const until = performance.now() + ATTACK_MS; performance.now() < until;) {
      const response = await fetch(`${monitor}/api/v1/monitor/live`, { signal: AbortSignal.timeout(PATIENCE.timeout) });
      expect(response.status).toBe(200);
      await response.text();
      resident = Math.max(resident, residentMegabytes(bridge.pid));
    }
  } finally {
    for (const socket of attackers) socket.destroy();
  }
  expect(resident).toBeLessThan(RESIDENT_BOUND_MB);
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
});

test("finding 5.1: a client that never reads its answer is cut, and counted", async () => {
  using folder = new Folder();
  folder.write("bridge.yaml", DOCUMENT);
  await using bridge = folder.run();
  const monitor = await bridge.url("monitor");
  const socket = connect(portOf(monitor), "127.0.0.1")
    .on("error", () => {})
    .pause();
  const text = request("/api/v1/monitor/metrics", `X-API-Key: ${ADMIN_KEY}\r\n`);
  // As many as are read at once: one of which only the beginning was read would run into the bound of a request first.
  socket.write(text.repeat(Math.floor(65_536 / text.length)));
  const cut = async (): Promise<number> => {
    const headers = { "X-API-Key": ADMIN_KEY };
    const response = await fetch(`${monitor}/api/v1/monitor/metrics`, { headers });
    return Number(/^bridge_server_connections_cut_total\{server="monitor"\} (\d+)/m.exec(await response.text())?.[1]);
  };
  await expect.poll(cut, { timeout: 120_000, interval: 200 }).toBe(1);
  socket.resume();
  await expect.poll(() => socket.closed).toBe(true);
}, 150_000);

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1_024;
}
