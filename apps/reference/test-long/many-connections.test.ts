import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { Folder, HTTP } from "../test/support/folder.ts";

const CONNECTIONS = 10_000;
/** With the time that this process needs for its own side. */
const PROBE_BOUND_MS = 5_000;
/** Mostly garbage of 10,000 requests, not collected yet. */
const MEMORY_BOUND_MB = 250;

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const KINDS: Readonly<Record<string, string>> = {
  idle: "",
  "slow headers": "GET /api/v1/monitor/live HTTP/1.1\r\nHost: a\r\nX-Slow:",
  "slow bodies": "GET /api/v1/monitor/live HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc",
  pipelined: "GET /api/v1/monitor/live HTTP/1.1\r\nHost: a\r\n\r\n".repeat(5),
};

test.each(Object.entries(KINDS))("10,000 connections, %s: the probes answer in time", async (kind, text) => {
  folder.write("bridge.yaml", `${HTTP}bridge: {id: test}\n`);
  await using bridge = folder.run();
  const monitor = await bridge.url("monitor");
  expect(await probe(monitor)).toBe(200);
  const before = residentMegabytes(bridge.pid);
  const sockets: Socket[] = [];
  const latencies: number[] = [];
  const port = Number(new URL(monitor).port);
  try {
    for (let opened = 0; opened < CONNECTIONS; opened++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      socket.on("data", () => {});
      if (text !== "") socket.write(text);
      sockets.push(socket);
      if (opened % 500 !== 499) continue;
      const from = performance.now();
      expect(await probe(monitor)).toBe(200);
      latencies.push(performance.now() - from);
      await delay(10);
    }
    // What was accepted last of all may still be on its way.
    const open = (): number => sockets.filter((socket) => !socket.closed).length;
    await expect.poll(open, { timeout: 60_000 }).toBeLessThanOrEqual(1_000);
    const grown = residentMegabytes(bridge.pid) - before;
    const sorted = latencies.toSorted((a, b) => a - b);
    console.log(
      `${kind}: probes p50 ${sorted[10]?.toFixed(1)} ms, worst ${sorted.at(-1)?.toFixed(1)} ms; memory +${grown.toFixed(0)} MB`,
    );
    expect(sorted.at(-1)).toBeLessThan(PROBE_BOUND_MS);
    expect(grown).toBeLessThan(MEMORY_BOUND_MB);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
});

/** On a connection of its own, as orchestrators ask: one that is kept is the first to be ended at the limit. */
async function probe(monitor: string): Promise<number | undefined> {
  const [response] = (await once(get(`${monitor}/api/v1/monitor/live`, { agent: false }), "response")) as [
    IncomingMessage,
  ];
  await once(response.resume(), "end");
  return response.statusCode;
}

function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1_024;
}
