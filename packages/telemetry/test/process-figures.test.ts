import { open } from "node:fs/promises";
import { systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { exposition, ProcessFigures } from "../src/index.ts";
import { parseExposition } from "@bridge/tooling/parse-exposition";

async function read(figures: ProcessFigures): Promise<Readonly<Record<string, number>>> {
  const families = parseExposition(exposition(await figures.read()));
  return Object.fromEntries([...families].flatMap(([name, { samples }]) => samples.map(({ value }) => [name, value])));
}

test("every figure has the name that other programs give it, and is what the process knows of itself", async () => {
  using figures = new ProcessFigures(systemClock);
  const seen = await read(figures);
  const cpu = process.cpuUsage();
  expect(seen["process_cpu_seconds_total"]).toBeGreaterThan(0);
  expect(seen["process_cpu_seconds_total"]).toBeLessThanOrEqual((cpu.user + cpu.system) / 1e6);
  const { process_cpu_user_seconds_total: user = 0, process_cpu_system_seconds_total: system = 0 } = seen;
  expect(seen["process_cpu_seconds_total"]).toBeCloseTo(user + system, 5);
  const startedAt = (Date.now() - process.uptime() * 1_000) / 1_000;
  expect(Math.abs((seen["process_start_time_seconds"] ?? 0) - startedAt)).toBeLessThan(60);
  expect(seen["process_resident_memory_bytes"]).toBeGreaterThan(10_000_000);
  expect(seen["nodejs_heap_size_used_bytes"]).toBeLessThanOrEqual(seen["nodejs_heap_size_total_bytes"] ?? 0);
  expect(seen["nodejs_external_memory_bytes"]).toBeGreaterThan(0);
  expect(seen["nodejs_version_info"]).toBe(1);
});

test.runIf(process.platform === "linux")("open files are counted, and there is a limit", async () => {
  using figures = new ProcessFigures(systemClock);
  const before = await read(figures);
  const files = await Promise.all(Array.from({ length: 20 }, () => open(import.meta.filename)));
  const more = (await read(figures))["process_open_fds"] ?? 0;
  await Promise.all(files.map((file) => file.close()));
  expect(more - (before["process_open_fds"] ?? 0)).toBeGreaterThanOrEqual(10);
  expect(before["process_max_fds"]).toBeGreaterThan(more);
});

test("a loop that stood still was late, for every reader, until that is long ago", async () => {
  let pass = (): void => {};
  const clock = { ...systemClock, every: (_: number, tick: () => void) => ((pass = tick), { [Symbol.dispose]() {} }) };
  using figures = new ProcessFigures(clock);
  const lag = async () => (await read(figures))["nodejs_eventloop_lag_max_seconds"];
  await expect.poll(lag, { interval: 20 }).toBeDefined();
  const until = performance.now() + 400;
  while (performance.now() < until);
  await expect.poll(lag, { interval: 20 }).toBeGreaterThan(0.3);
  expect(await lag()).toBeGreaterThan(0.3);
  pass();
  expect(await lag()).toBeGreaterThan(0.3);
  pass();
  await expect.poll(async () => (await lag()) ?? 1, { interval: 20 }).toBeLessThan(0.3);
});
