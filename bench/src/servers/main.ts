/** How long the bridge's event loop stands still while its servers answer, by the number of routes. @module */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { folder } from "../harness/folder.ts";
import { integerFrom } from "../harness/flag-values.ts";
import { spreadOf } from "../harness/spread.ts";
import { table } from "../harness/table.ts";
import { type Answered, WatchedBridge } from "./watched-bridge.ts";

const DEAD_LETTERS = 1_000;
const AT_ONCE = 20;

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  options: { routes: { type: "string", default: "1000,5000" }, rounds: { type: "string", default: "10" } },
});
const rounds = integerFrom(1, "rounds", values.rounds);

for (const text of values.routes.split(",")) {
  const routes = integerFrom(1, "routes", text);
  console.log(`\n${routes} routes, each has carried a message; ${rounds} rounds\n`);
  console.log(table(["", "KB", "longest turn, ms of CPU", "by the clock"], await rowsOf(routes)));
}

async function rowsOf(routes: number): Promise<string[][]> {
  await using place = await folder();
  await using bridge = await WatchedBridge.start(place.path, documentOf(routes));
  const ids = Array.from({ length: Math.max(routes, DEAD_LETTERS) }, (_, index) => `route-${index % routes}`);
  for (let from = 0; from < ids.length; from += AT_ONCE)
    await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => inject(bridge, id)));
  const rows: string[][] = [];
  let txn = "";
  let limit = 100;
  const patch = () => ({ routes: [{ id: "route-0", policy: { max_in_flight: (limit += 1) } }] });
  const asks: Readonly<Record<string, () => Promise<Answered>>> = {
    "no request, a second": async () => {
      await sleep(1_100);
      return { status: 200, text: "" };
    },
    live: () => bridge.ask("monitor", "/live"),
    metrics: () => bridge.ask("monitor", "/metrics"),
    topology: () => bridge.ask("monitor", "/topology"),
    "routes (monitor)": () => bridge.ask("monitor", "/routes"),
    deephealth: () => bridge.ask("monitor", "/deephealth"),
    "routes (admin)": () => bridge.ask("admin", "/routes"),
    bridge: () => bridge.ask("admin", "/bridge"),
    "ready?level=full": () => bridge.ask("monitor", "/ready?level=full"),
    "dlq/messages?limit=1000": () => bridge.ask("admin", "/dlq/messages?limit=1000"),
    config: () => bridge.ask("admin", "/config"),
    "transaction: open": async () => {
      const opened = await bridge.ask("admin", "/config/transactions", "POST");
      txn = (JSON.parse(opened.text) as { txn_id: string }).txn_id;
      return opened;
    },
    "transaction: patch": () => bridge.ask("admin", `/config/transactions/${txn}`, "PATCH", patch()),
    "transaction: inspect": () => bridge.ask("admin", `/config/transactions/${txn}`),
    "transaction: validate": () => bridge.ask("admin", `/config/transactions/${txn}/validate`, "POST"),
    "transaction: commit": () => bridge.ask("admin", `/config/transactions/${txn}/commit`, "POST"),
  };
  const found = new Map<string, { kilobytes: number; cpu: number[]; wall: number[] }>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, ask] of Object.entries(asks)) {
      let answered: Answered = { status: 0, text: "" };
      const { cpuMs, wallMs } = await bridge.longestTurn(async () => {
        answered = await ask();
      });
      if (answered.status >= 300) throw new Error(`${name}: ${answered.status} ${answered.text.slice(0, 500)}`);
      const row = found.get(name) ?? { kilobytes: 0, cpu: [], wall: [] };
      found.set(name, row);
      row.kilobytes = answered.text.length / 1_000;
      row.cpu.push(cpuMs);
      row.wall.push(wallMs);
    }
  }
  for (const [name, { kilobytes, cpu, wall }] of found)
    rows.push([name, kilobytes.toFixed(0), spread(cpu), spread(wall)]);
  return rows;
}

async function inject(bridge: WatchedBridge, id: string): Promise<void> {
  const { status, text } = await bridge.ask("admin", `/routes/${id}/inject`, "POST", { subject: "s", payload: "" });
  // A full channel: it is a dead letter then.
  if (status !== 200 && status !== 422) throw new Error(`inject: ${status} ${text}`);
}

function spread(measured: readonly number[]): string {
  const { median, min, max } = spreadOf(measured);
  return `${median.toFixed(1)} [${min.toFixed(1)}–${max.toFixed(1)}]`;
}

/** Its messages end as dead letters. */
function tenth(index: number): boolean {
  return index % 10 === 0;
}

function documentOf(routes: number): object {
  const all = Array.from({ length: routes }, (_, index) => index);
  return {
    audit: { log: false },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    sessions: [{ id: "session", transport: "memory" }],
    receivers: all.map((index) => ({ id: `in-${index}`, session_id: "session", options: { channel: `in-${index}` } })),
    senders: [
      { id: "out", session_id: "session", options: { discard: true } },
      { id: "full", session_id: "session", options: { max_messages: 1 } },
    ],
    bindings: all.map((index) => ({
      id: `to-${index}`,
      sender_id: tenth(index) ? "full" : "out",
      address: tenth(index) ? "full" : `out-${index}`,
    })),
    routes: all.map((index) => ({
      id: `route-${index}`,
      receiver_id: `in-${index}`,
      bindings: [`to-${index}`],
      policy: { max_replay_attempts: 1 },
    })),
  };
}
