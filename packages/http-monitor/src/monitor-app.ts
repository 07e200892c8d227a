import type { Auditor } from "@bridge/audit";
import type { Supervisor } from "@bridge/core";
import {
  type AdminKeys,
  type Authenticate,
  createKeyring,
  type Keyring,
  keyringOf,
  type NamedKey,
  namedAdminKeys,
  serve,
  type ServedApp,
  type ThrottleOptions,
} from "@bridge/http-kit";
import { type Seams, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import { type Family, readMetrics, type ServerStats } from "@bridge/telemetry";
import type { ConfigWatch } from "./config-watch.ts";
import type { KeyRefresh } from "./key-refresh.ts";
import { probes } from "./probes.ts";
import { deepHealth, readiness, route, session, topology } from "./schemas.ts";
import { Scrapes } from "./scrapes.ts";
import { UNWIRED_VIEW } from "./unwired-view.ts";
import { views } from "./views.ts";

/** Whose keys open the views; an admin key opens everything that the monitor key does. Without any, nothing does. */
export interface MonitorKeys extends AdminKeys {
  /** An empty key counts as absent. */
  readonly monitorApiKey?: string | undefined;
  /** Keys by name, besides the one without. */
  readonly monitorApiKeys?: Readonly<Record<string, string>> | undefined;
}

export interface MonitorAppOptions extends Partial<Seams> {
  /** The bridge; `undefined` as long as the process has none. */
  readonly supervisor: () => Supervisor | undefined;
  readonly keys?: MonitorKeys | Keyring | undefined;
  /** Tells who calls, in place of `keys`: whoever has the permission `read` sees the views. */
  readonly authenticate?: Authenticate | undefined;
  /** Takes the failed logins. */
  readonly auditor: Auditor;
  /** The listeners that `/metrics` is to show. Default: none. */
  readonly servers?: (() => readonly ServerStats[]) | undefined;
  /** What `/metrics` tells, of one moment after the call; or its text. Default: that of `@bridge/telemetry`. */
  readonly metrics?: (() => Promise<readonly Family[]> | Promise<string> | string) | undefined;
  /** What is known of a watched configuration source. Default: none is watched. */
  readonly configWatch?: (() => ConfigWatch | undefined) | undefined;
  /** What is known of keys that are read again and again. Default: they do not change. */
  readonly keyRefresh?: (() => KeyRefresh | undefined) | undefined;
  /** Origins that browsers may call from (spec 5.8). Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Default: 5 failed logins a minute and client. */
  readonly throttle?: ThrottleOptions | undefined;
}

const NAMED_SCHEMAS = {
  DeepHealth: deepHealth,
  Readiness: readiness,
  Route: route,
  Session: session,
  Topology: topology,
} as const;

/**
 * The monitor server (spec 4.1): open probes, and views for whoever has a monitor or an admin key, or may `read`. Its OpenAPI document
 * is open, as it tells nothing of this installation.
 * @throws Error when there is neither `keys` nor `authenticate`, or both, or a key, a key name or an origin is malformed
 */
export function createMonitorApp(options: MonitorAppOptions): ServedApp {
  const { supervisor, keys, servers = () => [], configWatch = () => undefined, keyRefresh = () => undefined } = options;
  const view = () => supervisor()?.view() ?? UNWIRED_VIEW;
  const clock = options.clock ?? systemClock;
  const metrics = async (): Promise<readonly Family[]> => {
    const auditFailures = options.auditor.failures();
    const keyRefreshFailures = keyRefresh()?.failures;
    return readMetrics({ supervisor: supervisor(), servers: servers(), auditFailures, keyRefreshFailures }, clock);
  };
  const scrapes = new Scrapes({
    read: options.metrics ?? metrics,
    routes: () => supervisor()?.config().routes.length ?? 0,
    clock,
  });
  return serve<never>({
    server: "monitor",
    endpoints: [
      ...probes(view),
      ...views({
        view,
        configWatch,
        keyRefresh,
        scrapes,
        auditFaults: () => options.auditor.faults(),
        clock,
      }),
    ],
    schemas: NAMED_SCHEMAS,
    describe: { access: "open" },
    keyring: keyringOf(keys, (given) => createKeyring(namedMonitorKeys(given))),
    authenticate: options.authenticate,
    audit: options.auditor,
    veil: () => options.supervisor()?.veil,
    corsOrigins: options.corsOrigins,
    throttle: options.throttle,
    clock,
    random: options.random ?? systemRandom(),
    logger: steadyLogger(options.logger ?? silentLogger),
  });
}

/**
 * Each key once, under its name; a key that is an admin's too has the name that it has there.
 * @throws Error when a named admin key takes the name of the single one
 */
export function namedMonitorKeys({
  monitorApiKey = "",
  monitorApiKeys = {},
  ...adminKeys
}: MonitorKeys): readonly NamedKey[] {
  const admins = namedAdminKeys(adminKeys);
  const own = Object.entries(monitorApiKeys).map(([name, key]) => ({ name, key }));
  if (monitorApiKey !== "") own.unshift({ name: "monitor", key: monitorApiKey });
  return [...admins, ...own.filter(({ key }) => admins.every((admin) => admin.key !== key))];
}
