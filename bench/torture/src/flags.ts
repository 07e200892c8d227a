import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { integerFrom, oneOf } from "../../src/harness/flag-values.ts";
import { concerns, LANE_NAMES, type LaneName } from "./plan/troubles.ts";
import {
  EMBEDDED_ROUTES,
  endsOf,
  hasOutbox,
  type Mode,
  pairsOf,
  ROUTE_NAMES,
  type RouteName,
  type StoreType,
  type Transport,
  TRANSPORTS,
  USUAL_ROUTES,
} from "./routes.ts";

const MODES = ["direct_hold", "shared_outbox", "both"] as const satisfies readonly Mode[];
const STORES = ["file", "postgres", "memory"] as const satisfies readonly StoreType[];
const BINARY = fileURLToPath(new URL("../../../apps/reference/dist/main.js", import.meta.url));
const IN_CODE = fileURLToPath(new URL("embedded/main.ts", import.meta.url));
const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** Without a limit of their own, so much for each kill and for the rest. */
const USUAL_LIMIT = { perKillMs: 6_000, restMs: 120_000 } as const;

export const USAGE = `pnpm torture [options]
  --seed TEXT        repeats the plan of a former run; default: a random one, which is printed
  --kills N          how often the bridge is killed; default 50
  --least-kills N    so many will do if there is no time for all, on a slow machine; default: all
  --rate N           messages a second over all routes; default 200
  --mode MODE        ${MODES.join(", ")} (half of the routes each); default ${MODES[0]}
  --source LIST      with --target, instead of --routes: all routes from one of these to one of those,
  --target LIST      of ${TRANSPORTS.join(", ")}
  --routes LIST      SOURCE-TARGET, such as amqp-mqtt; default: ${USUAL_ROUTES.join(",")}
  --embedded         a bridge in code instead of the binary: from two queues to a handler and to HTTP
  --stores TYPE      ${STORES.join(", ")}: where dead letters and the outbox are; default ${STORES[0]}
  --troubles LIST    besides the kills: none, or of ${LANE_NAMES.join(", ")}; default: all
  --time-limit TIME  such as 170s: the kills and the rest have to fit in; default: 6s a kill and 2m
  --bridge FILE      the program of the bridge; default: the reference binary of this checkout, as it was built
  --keep             keep the logs, also when nothing is wrong
  --out FILE         where the figures go as JSON; default: nowhere
  --help`;

export interface Flags {
  readonly seed: string;
  readonly kills: number;
  readonly leastKills: number;
  readonly rate: number;
  readonly mode: Mode;
  readonly routes: readonly RouteName[];
  readonly stores: StoreType;
  readonly troubles: readonly LaneName[];
  readonly timeLimitMs: number;
  /** Whether the bridge is {@link EMBEDDED_ROUTES} in code. */
  readonly embedded: boolean;
  readonly bridge: string;
  readonly keep: boolean;
  readonly out: string | undefined;
  readonly help: boolean;
}

/** The lanes that mean something in this run: a disk that holds no store cannot be full, a broker that is not there break. */
export function lanesOf(flags: Pick<Flags, "troubles" | "mode" | "routes" | "stores">): readonly LaneName[] {
  const ends = endsOf(flags.routes);
  return flags.troubles.filter((lane) => {
    if (!concerns(lane, ends)) return false;
    if (lane === "dlq_disk") return flags.stores === "file";
    if (lane === "outbox_disk") return flags.stores === "file" && hasOutbox(flags);
    return true;
  });
}

/** @throws Error that says what is wrong with a flag */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: String(randomInt(1_000_000_000)) },
      kills: { type: "string", default: "50" },
      "least-kills": { type: "string" },
      rate: { type: "string", default: "200" },
      mode: { type: "string", default: MODES[0] },
      routes: { type: "string" },
      source: { type: "string" },
      target: { type: "string" },
      embedded: { type: "boolean", default: false },
      stores: { type: "string", default: STORES[0] },
      troubles: { type: "string", default: LANE_NAMES.join(",") },
      "time-limit": { type: "string" },
      bridge: { type: "string" },
      keep: { type: "boolean", default: false },
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const kills = integerFrom(0, "kills", values.kills);
  const { "time-limit": limit, "least-kills": leastKills } = values;
  const flags: Flags = {
    seed: values.seed,
    kills,
    leastKills: leastKills === undefined ? kills : integerFrom(0, "least-kills", leastKills),
    rate: integerFrom(1, "rate", values.rate),
    mode: oneOf("mode", values.mode, MODES),
    routes: routesOf(values),
    stores: oneOf("stores", values.stores, STORES),
    troubles:
      values.troubles === "none" ? [] : values.troubles.split(",").map((name) => oneOf("troubles", name, LANE_NAMES)),
    timeLimitMs: limit === undefined ? kills * USUAL_LIMIT.perKillMs + USUAL_LIMIT.restMs : milliseconds(limit),
    embedded: values.embedded,
    bridge: values.bridge ?? (values.embedded ? IN_CODE : BINARY),
    keep: values.keep,
    out: values.out,
    help: values.help,
  };
  if (flags.leastKills > kills) throw new Error(`--least-kills: ${flags.leastKills} are more than --kills ${kills}`);
  if (flags.stores === "memory" && hasOutbox(flags) && kills > 0) {
    throw new Error("--stores: an outbox in memory is lost at the first kill; use file");
  }
  if (flags.embedded && (flags.mode !== "direct_hold" || flags.stores !== "file")) {
    throw new Error("--embedded: the bridge in code has direct_hold and files only; leave out --mode and --stores");
  }
  return flags;
}

interface RouteValues {
  readonly embedded: boolean;
  readonly routes?: string;
  readonly source?: string;
  readonly target?: string;
}

function routesOf({ embedded, routes, source, target }: RouteValues): readonly RouteName[] {
  if (embedded) {
    if ((routes ?? source ?? target) !== undefined) throw new Error("--embedded: has routes of its own");
    return EMBEDDED_ROUTES;
  }
  if (routes !== undefined) {
    if (source !== undefined || target !== undefined) throw new Error("--routes: not beside --source and --target");
    return routes.split(",").map((name) => oneOf("routes", name, ROUTE_NAMES));
  }
  if (source === undefined && target === undefined) return USUAL_ROUTES;
  if (source === undefined || target === undefined) throw new Error("--source and --target: one needs the other");
  return pairsOf(transportsIn("source", source), transportsIn("target", target));
}

function transportsIn(flag: string, text: string): readonly Transport[] {
  return text.split(",").map((name) => oneOf(flag, name, TRANSPORTS));
}

function milliseconds(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw new Error(`--time-limit: "${text}" is no time such as 170s or 3m`);
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}
