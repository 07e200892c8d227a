import type { Auditor } from "@bridge/audit";
import type { ConfigTransactions, HttpSection } from "@bridge/config";
import type { Recorder, Supervisor } from "@bridge/core";
import { createAdminApp } from "@bridge/http-admin";
import { listen, type Listener, type ServedApp } from "@bridge/http-kit";
import { type ConfigWatch, createMonitorApp, type KeyRefresh } from "@bridge/http-monitor";
import { type Seams } from "@bridge/ports";
import { patientDeadline } from "@bridge/ports/internal";
import type { Family, ServerStats } from "@bridge/telemetry";
import { messageOf } from "./message-of.ts";
import { type ServerKeys, warnOfSharedKey } from "./server-keys.ts";
import { USUAL_ADDRESS } from "./usual-servers.ts";

/** The servers of a process, bound once at its start (spec 1.7). */
export interface Servers {
  readonly monitor: Listener;
  /** Absent when there is no key that could open it. */
  readonly admin: Listener | undefined;
  stats(): readonly ServerStats[];
}

export interface ServersOptions {
  readonly supervisor: Supervisor;
  readonly auditor: Auditor;
  /** Absent: the monitor server on its usual address, and the admin server too if there is a key. */
  readonly http: HttpSection | undefined;
  readonly keys: ServerKeys;
  /** What deep health tells of the configuration's source. */
  readonly configWatch: () => ConfigWatch;
  /** Of the program. */
  readonly version: string | undefined;
  readonly keyRefresh: (() => KeyRefresh | undefined) | undefined;
  readonly configTransactions: ConfigTransactions;
  readonly recorder: Recorder;
  /** Everything that is counted in this process; never rejects. */
  readonly readMetrics: () => Promise<readonly Family[]>;
  readonly seams: Seams;
}

const LISTENS = { admin: "admin server listens", monitor: "monitor server listens" } as const;
const BIND_TIMEOUT_MS = 10_000;

/**
 * Binds both servers or none, before the bridge takes its first message: the probes answer while it starts, and a
 * taken port costs no message.
 * @throws Error naming the field of an address or file that cannot be used
 */
export async function openServers({
  supervisor,
  auditor,
  http,
  keys,
  configWatch,
  version,
  keyRefresh,
  configTransactions,
  recorder,
  readMetrics,
  seams,
}: ServersOptions): Promise<Servers> {
  const shared = { ...seams, supervisor: () => supervisor, auditor, corsOrigins: http?.corsOrigins };
  const bound: { readonly server: "admin" | "monitor"; readonly listener: Listener; readonly app: ServedApp }[] = [];
  const bind = async (server: "admin" | "monitor", addr: string, app: ServedApp): Promise<Listener> => {
    using budget = patientDeadline(seams.clock, BIND_TIMEOUT_MS, new Error(`not bound after ${BIND_TIMEOUT_MS} ms`));
    try {
      const listener = await listen({ ...seams, addr, app, tls: tlsOf(http) }, budget.signal);
      seams.logger.info(LISTENS[server], { url: listener.url });
      bound.push({ server, listener, app });
      return listener;
    } catch (error) {
      throw new Error(`the ${server} server (http.${server}_addr): ${messageOf(error)}`, { cause: error });
    }
  };

  const stats = () =>
    bound.map(({ server, listener, app }) => ({ server, stats: listener.stats(), counts: app.counts() }));
  const monitorApp = createMonitorApp({
    ...shared,
    metrics: readMetrics,
    configWatch,
    keyRefresh,
    keys: keys.monitor,
  });
  const adminKeys = keys.admin;
  // Both are tried before either is given up, so that one run names every address that cannot be had.
  const [monitor, admin] = await Promise.allSettled([
    bind("monitor", http?.monitorAddr ?? USUAL_ADDRESS.monitor, monitorApp),
    adminKeys === undefined
      ? undefined
      : bind(
          "admin",
          http?.adminAddr ?? USUAL_ADDRESS.admin,
          createAdminApp({
            ...shared,
            configTransactions,
            recorder,
            version,
            keys: adminKeys,
            redact: http?.redact,
            sessions: http?.sessions,
          }),
        ),
  ]);
  if (monitor.status === "rejected" || admin.status === "rejected") {
    await Promise.all(bound.map(({ listener }) => listener[Symbol.asyncDispose]()));
    const causes = [monitor, admin].flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
    throw new Error(causes.map(messageOf).join("; "), { cause: causes[0] });
  }
  if (adminKeys === undefined)
    seams.logger.warn("no admin server: there is no key that would open it, such as BRIDGE_ADMIN_API_KEY");
  if (!isToldAlready(http)) warnOfSharedKey(keys, seams.logger);
  return { monitor: monitor.value, admin: admin.value, stats };
}

/** What the document itself says is told by its validation. */
function isToldAlready(http: HttpSection | undefined): boolean {
  return http !== undefined && http.adminApiKey !== "" && http.adminApiKey === http.monitorApiKey;
}

function tlsOf(http: HttpSection | undefined): { certFile: string; keyFile: string } | undefined {
  if (http === undefined || http.tlsCertFile === "") return undefined;
  return { certFile: http.tlsCertFile, keyFile: http.tlsKeyFile };
}
