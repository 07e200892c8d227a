/** Asks the probes of the bridges each second, as an orchestrator does, and keeps the times. A process of its own. @module */
import { request } from "node:http";
import * as v from "valibot";
import { answer, ready } from "../../../src/harness/answer.ts";
import { quantile } from "../../../src/harness/spread.ts";
import type { SideName } from "../sides.ts";
import {
  type Bridges,
  LATE_MS,
  type OddProbe,
  ownMs,
  type ProbeName,
  type ProberJob,
  type ProberReport,
  PROBES,
} from "./job.ts";
import { waitedForCore } from "./waiting.ts";

const EVERY_MS = 1_000;
const TIMEOUT_MS = 10_000;
const MAX_LISTED = 300;

const deepHealth = v.object({
  sessions: v.optional(v.array(v.object({ session_id: v.string(), connected: v.boolean() })), []),
  stores: v.optional(v.array(v.object({ role: v.string(), state: v.string() })), []),
});

const { sides, key } = JSON.parse(process.argv[2] ?? "") as ProberJob;
const late: OddProbe[] = [];
const unwell: OddProbe[] = [];
let unlisted = 0;
const times = new Map<string, { readonly all: number[]; readonly statuses: Record<string, number> }>();
const away = new Map<SideName, readonly string[]>();
const awaySeconds: Record<string, number> = {};
let timer: NodeJS.Timeout | undefined;

async function ask(side: SideName, monitor: number, probe: ProbeName, bridge: number): Promise<void> {
  const at = Date.now();
  const waited = (): number => waitedForCore(bridge) + waitedForCore(process.pid);
  const waitedBefore = waited();
  const began = performance.now();
  const { status } = await get(monitor, probe).catch(() => ({ status: 0 }));
  const ms = Math.round(performance.now() - began);
  const waitedMs = Math.round(waited() - waitedBefore);
  const name = `${side}/${probe}`;
  const book = times.get(name) ?? { all: [], statuses: {} };
  times.set(name, book);
  book.all.push(ms);
  book.statuses[status] = (book.statuses[status] ?? 0) + 1;
  const odd = { at, side, probe, status, ms, waitedMs, away: away.get(side) ?? [] };
  if (ms > LATE_MS) note(late, odd);
  if (status !== 200 && (probe !== "ready" || status === 0)) note(unwell, odd);
}

async function lookDeep(side: SideName, monitor: number): Promise<void> {
  const { body } = await get(monitor, "deephealth").catch(() => ({ body: "{}" }));
  const { sessions, stores } = v.parse(deepHealth, JSON.parse(body));
  const now = [
    ...sessions.filter(({ connected }) => !connected).map((session) => `session ${session.session_id}`),
    ...stores.filter(({ state }) => state !== "up").map((store) => `store ${store.role} ${store.state}`),
  ];
  away.set(side, now);
  for (const what of now) awaySeconds[`${side}: ${what}`] = (awaySeconds[`${side}: ${what}`] ?? 0) + 1;
}

/** On a connection of its own, as probes come. */
function get(port: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const headers = path === "deephealth" ? { "X-API-Key": key } : {};
    const asked = request(
      { host: "127.0.0.1", port, path: `/api/v1/monitor/${path}`, agent: false, timeout: TIMEOUT_MS, headers },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
        response.on("error", reject);
      },
    );
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", reject);
    asked.end();
  });
}

/** Keeps the worst. */
function note(list: OddProbe[], odd: OddProbe): void {
  list.push(odd);
  if (list.length <= MAX_LISTED) return;
  unlisted++;
  const least = list.reduce((best, one) => (ownMs(one) < ownMs(best) ? one : best));
  list.splice(list.indexOf(least), 1);
}

answer("begin", ({ pids }: Bridges) => {
  timer = setInterval(() => {
    for (const { side, monitor } of sides) {
      for (const probe of PROBES) void ask(side, monitor, probe, pids[side]);
      void lookDeep(side, monitor).catch(() => {});
    }
  }, EVERY_MS);
});

/** No more questions, and what came of them. */
answer("report", (): ProberReport => {
  clearInterval(timer);
  return {
    times: sides.flatMap(({ side }) =>
      PROBES.map((probe) => {
        const { all, statuses } = times.get(`${side}/${probe}`) ?? { all: [], statuses: {} };
        const sorted = all.toSorted((one, other) => one - other);
        const [median, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
        return { side, probe, asked: all.length, median, p99, most: sorted.at(-1) ?? Number.NaN, statuses };
      }),
    ),
    late,
    unwell,
    unlisted,
    awaySeconds,
  };
});
ready();
