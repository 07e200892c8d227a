import { once } from "node:events";
import { createServer } from "node:net";
import { expect } from "vitest";
import { eventually } from "./ask.ts";
import { until } from "./until.ts";
import type { Trouble } from "./away-store.ts";
import { BUDGETS, StoredBridge, type StoreKind } from "./stored-bridge.ts";

/** What happens to a bridge while its outbox is away. */
export const EVENTS = [
  "start",
  "reload of another route",
  "reload of its route",
  "pause",
  "stop",
  "shutdown",
  "commit",
  "commit that is undone",
] as const;
type Event = (typeof EVENTS)[number];

export interface Cell {
  /** Default: `postgres`. */
  readonly store?: StoreKind;
  readonly event: Event;
  readonly trouble: Trouble;
  /** How long the store stays away after the event, in milliseconds. Default: it comes back at once. */
  readonly awayMs?: number;
}

/** Beyond what a budget allows: of a machine with other work. Whoever waits for the store's answer takes 30 s and more. */
const SLACK_MS = 21_000;

/** One cell of the matrix: nothing ends or overruns its budget, and readiness says so. Returns what was taken and lost. */
export async function throughOutage({
  store = "postgres",
  event,
  trouble,
  awayMs = 0,
}: Cell): Promise<readonly string[]> {
  await using site = await StoredBridge.open(store);
  if (event !== "start") {
    site.run();
    await site.until("full");
    await site.insist("kept");
  }
  await site.begin(trouble);
  if (event === "start") site.run();
  const before = event === "start" ? undefined : site.send("kept");
  const startedAt = performance.now();
  const over = (budgetMs: number) => expect(performance.now() - startedAt).toBeLessThan(budgetMs + SLACK_MS);
  switch (event) {
    case "start":
      await site.bridge.logged("bridge started");
      over(2_000);
      break;
    case "reload of another route":
      site.edit("max_in_flight: 20", "max_in_flight: 21");
      await reloaded(site);
      break;
    case "reload of its route":
      site.edit("max_in_flight: 10", "max_in_flight: 11");
      await reloaded(site);
      over(BUDGETS.drainMs);
      break;
    case "pause":
      expect(await site.admin("POST", "/routes/kept/pause")).toMatchObject({ status: 200 });
      expect(await site.admin("POST", "/routes/kept/resume")).toMatchObject({ status: 200 });
      over(0);
      break;
    case "stop":
      expect(await site.admin("POST", "/bridge/stop")).toMatchObject({ status: 200 });
      over(BUDGETS.drainMs);
      expect(await site.admin("POST", "/bridge/start")).toMatchObject({ status: 200 });
      break;
    case "shutdown":
      site.bridge.kill("SIGTERM");
      expect(await site.bridge.ended).toBe(0);
      over(BUDGETS.shutdownMs);
      await site.end();
      site.run();
      break;
    case "commit":
      expect(await site.commit({ routes: [{ id: "kept", policy: { max_in_flight: 11 } }] })).toMatchObject({
        status: 200,
        body: { status: "committed" },
      });
      over(BUDGETS.drainMs);
      break;
    case "commit that is undone": {
      using _ = await squatter();
      expect(await site.commit(UNOPENABLE)).toMatchObject({ status: 500, body: { status: "rolled_back" } });
      over(2 * BUDGETS.drainMs);
      break;
    }
  }
  if (event !== "shutdown") {
    // A pause asks nothing of a store: one that hangs shows when it is asked next.
    if (event === "pause") await site.until("less");
    const watch = site.watchLevel();
    // The route that does not need the store goes on.
    await site.insist("direct");
    await site.until("less");
    if (awayMs > 0) await new Promise((resolve) => setTimeout(resolve, awayMs));
    const { taken } = await site.send("kept", "while-away");
    const full = await watch.end();
    // Where its log has been before the disk is sound: what it says that it has, it has.
    if (trouble !== "fails in its sync") {
      expect(taken).toBe(false);
      expect(full, "times that it was full while it could keep nothing").toBe(0);
    }
    await site.end();
  }
  await before;
  await site.insist("kept");
  await until(
    "all arrived",
    () => site.missing.length === 0,
    () => site.target.asked,
  );
  // What was beside a file that was gone is set aside, and an operator has to know.
  if (trouble === "is moved away") await site.admin("POST", "/outbox/acknowledge-damage");
  await site.until("full");
  site.bridge.kill("SIGTERM");
  expect(await site.bridge.ended).toBe(0);
  return site.missing;
}

async function reloaded(site: StoredBridge): Promise<void> {
  await eventually(
    () => site.deepHealth(),
    ({ body }) => (body as { config_watch?: { last_reload_at?: string } }).config_watch?.last_reload_at !== undefined,
  );
}

/** Valid, and fails when it starts: where a receiver without options listens, somebody listens already. */
const UNOPENABLE = {
  receivers: [{ id: "more", transport: "http" }],
  routes: [
    { id: "kept", policy: { max_in_flight: 11 } },
    { id: "more", receiver_id: "more", bindings: ["by-hand"] },
  ],
};

/** Listens there; where another program does, that will do. */
async function squatter(): Promise<Disposable> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen({ port: 8082, host: "127.0.0.1" });
  await listening.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
  });
  return { [Symbol.dispose]: () => void server.close() };
}
