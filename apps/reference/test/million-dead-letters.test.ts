import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Job, type JobKind, type Supervisor } from "@bridge/core";
import { fileDlq, openFileDlq } from "@bridge/dlq-file";
import { type Clock, type DeadLetter, silentLogger, systemClock } from "@bridge/ports";
import { LONG, times } from "@bridge/tooling/long";
import { memory, memoryHub, type MemoryHub } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import { Folder } from "./support/folder.ts";

const ENTRIES = times(3_000, 1_000_000);
const ROUTES = ["orders", "invoices", "returns"];
const CANARY = "a canary that sang in the shop";
const HOUR_MS = 3_600_000;
const SWEEP_MS = 60_000;
const BEGAN = Date.now() - 30 * 24 * HOUR_MS;
/** A process whose memory grows with what it goes through would grow by a gigabyte. */
const MOST_GROWTH_BYTES = 192 * 2 ** 20;
const { signal } = new AbortController();

test(
  "operators 2, 3.5.7: a purge of all beside a route's traffic is taken back as it was, and after the window nothing of it is in the file",
  { timeout: times(60_000, 3_600_000) },
  async () => {
    using folder = new Folder();
    const path = join(folder.path, "dlq.db");
    await fill(path);
    const before = contents(path);
    expect([before.rows, await holds(path, CANARY)]).toEqual([ENTRIES, true]);
    const hands = new SetClock();
    {
      await using scene = await Scene.open(path, hands.clock);
      await accountsFor(scene, ENTRIES);
      const traffic = scene.carryTraffic();
      const room = watchMemory();
      const purge = await begun(scene, "purge", { undoWithinMs: HOUR_MS });
      expect((await until(scene, purge, "completed")).counts).toMatchObject({ succeeded: ENTRIES, skipped: 0 });
      await accountsFor(scene, 0);
      await scene.bridge.jobs().ask(purge, { call: "undo" }, signal);
      expect((await until(scene, purge, "undone")).counts.restored).toBe(ENTRIES);
      await accountsFor(scene, ENTRIES);
      expect(room.growth()).toBeLessThan(MOST_GROWTH_BYTES);
      const carried = await traffic.end();
      expect(carried).toBeGreaterThan(0);
    }
    expect(contents(path)).toEqual(before);
    {
      await using scene = await Scene.open(path, hands.clock);
      await until(scene, await begun(scene, "purge", { undoWithinMs: HOUR_MS }), "completed");
      hands.ahead = HOUR_MS + 1;
      hands.sweep();
      while (inTrash(path)) await sleep(50);
    }
    expect(await holds(path, CANARY)).toBe(false);
  },
);

test(
  "operators 3.5.9: a redrive of all has each at the target once, and takes no more memory for many than for few",
  { timeout: times(60_000, 3_600_000) },
  async () => {
    using folder = new Folder();
    const path = join(folder.path, "dlq.db");
    await fill(path);
    await using scene = await Scene.open(path, systemClock);
    const seen = new Uint8Array(ENTRIES);
    const job = await begun(scene, "redrive", {});
    const room = watchMemory();
    const ended = await until(scene, job, "completed", () => {
      for (const { subject } of scene.hub.channel("shop").drain()) {
        const number = Number(subject.split("/").at(-1));
        seen[number] = (seen[number] ?? 0) + 1;
      }
    });
    expect(ended.counts).toMatchObject({ succeeded: ENTRIES, failed: 0, skipped: 0, inDoubt: 0 });
    expect(seen.every((count) => count === 1)).toBe(true);
    expect(room.growth()).toBeLessThan(MOST_GROWTH_BYTES);
    await accountsFor(scene, 0);
  },
);

/** The machine's clock, with hands that the test can move, and a sweep that comes when it says so. */
class SetClock {
  ahead = 0;
  readonly #sweeps = new Set<() => void>();
  readonly clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + this.ahead,
    every: (ms, tick) => {
      if (ms !== SWEEP_MS) return systemClock.every(ms, tick);
      this.#sweeps.add(tick);
      return { [Symbol.dispose]: () => void this.#sweeps.delete(tick) };
    },
  };

  sweep(): void {
    for (const tick of this.#sweeps) tick();
  }
}

/** A bridge with three routes whose dead letters are on a file, and one that carries other messages. */
class Scene implements AsyncDisposable {
  readonly bridge: Supervisor;
  readonly hub: MemoryHub;

  private constructor(bridge: Supervisor, hub: MemoryHub) {
    this.bridge = bridge;
    this.hub = hub;
  }

  static async open(path: string, clock: Clock): Promise<Scene> {
    const hub = memoryHub({ history: 0, maxMessages: 2_000_000 });
    const registry = createRegistry({ transports: [memory(hub)], dlqStores: [fileDlq] });
    const all = [...ROUTES, "beside"];
    const document = {
      bridge: { id: "million" },
      stores: { dlq: { type: "file", options: { path } } },
      receivers: all.map((id) => ({ id, transport: "memory", options: { channel: `${id}-in` } })),
      senders: [
        { id: "shop", transport: "memory", options: { channel: "shop" } },
        { id: "elsewhere", transport: "memory", options: { discard: true } },
      ],
      bindings: [
        { id: "to-shop", sender_id: "shop", address: "shop" },
        { id: "to-elsewhere", sender_id: "elsewhere", address: "elsewhere" },
      ],
      routes: all.map((id) => ({
        id,
        receiver_id: id,
        bindings: [id === "beside" ? "to-elsewhere" : "to-shop"],
      })),
    };
    const bridge = createSupervisor({ config: parseConfig(document, registry), registry, clock, logger: silentLogger });
    await bridge.start(signal);
    return new Scene(bridge, hub);
  }

  carryTraffic(): { end(): Promise<number> } {
    const channel = this.hub.channel("beside-in");
    let published = 0;
    const ending = new AbortController();
    const carrying = (async (): Promise<void> => {
      while (!ending.signal.aborted) {
        channel.publish({ payload: `${published++}` });
        await channel.until(({ accepted }) => accepted === published, signal);
        await turn();
      }
    })();
    return {
      async end() {
        ending.abort();
        await carrying;
        return published;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bridge.shutdown();
  }
}

/** The summary says so many, exactly, and its groups have all of them. */
async function accountsFor({ bridge }: Scene, entries: number): Promise<void> {
  const request = { query: {}, by: ["routeId", "fingerprint"], maxGroups: 200, buckets: 48 } as const;
  let facets = await bridge.dlq()?.facets?.(request, signal);
  while (facets?.exact !== true) {
    await sleep(200);
    facets = await bridge.dlq()?.facets?.(request, signal);
  }
  expect(facets).toMatchObject({ total: entries, counted: entries, moreGroups: false });
  expect(facets.groups.reduce((sum, { count }) => sum + count, 0)).toBe(entries);
  if (entries > 0) expect(facets.histogram?.counts.reduce((a, b) => a + b)).toBe(entries);
}

async function begun({ bridge }: Scene, kind: JobKind, more: { readonly undoWithinMs?: number }): Promise<string> {
  const halt = { failureRatio: 1, minAttempts: 20, consecutive: 0 };
  const settings = { rate: 10_000, concurrency: 64, ramp: [], rampPauseMs: 0, halt };
  const order = { kind, query: {}, reason: "a test", actor: "alice", settings, ...more };
  const { job } = await bridge.jobs().plan(order, signal);
  expect(job.plan).toMatchObject({ total: ENTRIES, exact: true });
  await bridge.jobs().start(job.id, { planHash: job.plan.hash }, signal);
  return job.id;
}

async function until({ bridge }: Scene, id: string, state: Job["state"], look: () => void = () => {}): Promise<Job> {
  for (;;) {
    const job = await bridge.jobs().get(id, signal);
    look();
    if (job.state === state) return job;
    expect(["running", "waiting", "undoing"]).toContain(job.state);
    await sleep(10);
  }
}

/** Through the store's own put, many at a time. */
async function fill(path: string): Promise<void> {
  await using store = openFileDlq({ path, clock: systemClock, logger: silentLogger });
  for (let begin = 0; begin < ENTRIES; begin += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, ENTRIES - begin) }, (_, at) => store.put(entryOf(begin + at), signal)),
    );
}

function entryOf(number: number): DeadLetter {
  const id = `m-${number}`;
  const about = { sourceId: "in", correlationId: `c-${number % 1_000}`, subject: `shop/${number}` };
  const failedAt = BEGAN + number * 1_000;
  return {
    ...about,
    id: `e-${number}`,
    routeId: ROUTES[number % ROUTES.length] ?? "",
    bindingId: "to-shop",
    reason: "refused",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: `no ${["stock", "shop", "such order"][number % 5] ?? CANARY}`,
    failedAt,
    attempts: 1,
    envelope: {
      ...about,
      id,
      contentType: "text/plain",
      headers: { note: `${CANARY}, ${number}` },
      payload: Buffer.from(`${number} ${CANARY} `.repeat(1 + (number % 13))),
      receivedAt: failedAt,
    },
  };
}

/** All rows, as they are, in the order of the list. */
function contents(path: string): { readonly rows: number; readonly digest: string } {
  const db = new DatabaseSync(path, { readOnly: true });
  const digest = createHash("sha256");
  let rows = 0;
  for (const { number: _, ...row } of db.prepare("SELECT * FROM dead_letter ORDER BY failed_at, id").iterate()) {
    rows++;
    for (const value of Object.values(row)) digest.update(value instanceof Uint8Array ? value : `${String(value)}\0`);
  }
  db.close();
  return { rows, digest: digest.digest("hex") };
}

/** Whether there is something of it still, whatever its time. */
function inTrash(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true });
  const found = db.prepare("SELECT 1 FROM dead_letter_trash LIMIT 1").get();
  db.close();
  return found !== undefined;
}

async function holds(path: string, text: string): Promise<boolean> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    const both = Buffer.concat([rest, chunk]);
    if (both.includes(text)) return true;
    rest = both.subarray(-text.length);
  }
  return false;
}

/** How much larger the process has become than it was after the first tenth of a minute. */
function watchMemory(): { growth(): number } {
  let least: number | undefined;
  let most = 0;
  const begin = performance.now();
  const look = setInterval(() => {
    const rss = process.memoryUsage.rss();
    if (!LONG || performance.now() - begin > 6_000) least ??= rss;
    most = Math.max(most, rss);
  }, 100);
  return {
    growth() {
      clearInterval(look);
      return most - (least ?? most);
    },
  };
}
