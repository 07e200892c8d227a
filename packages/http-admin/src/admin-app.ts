import type { Auditor } from "@bridge/audit";
import type { ConfigTransactions } from "@bridge/config";
import type { Recorder, Supervisor } from "@bridge/core";
import {
  type AdminKeys,
  type Authenticate,
  createKeyring,
  type Keyring,
  keyringOf,
  namedAdminKeys,
  serve,
  type ServedApp,
  type SessionOptions,
  type ThrottleOptions,
} from "@bridge/http-kit";
import { type Seams, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import { auditEndpoints, auditPage, auditVerification } from "./audit.ts";
import { damageEndpoints } from "./acknowledge-damage.ts";
import { bridgeEndpoints } from "./bridge.ts";
import { BridgeAccess } from "./bridge-access.ts";
import { configEndpoints } from "./config.ts";
import { configProbationEndpoints } from "./config-probation.ts";
import { configTransactionEndpoints } from "./config-transactions.ts";
import { dlqAnnotateEndpoint } from "./dlq-annotate.ts";
import { dlqDeleteEndpoints } from "./dlq-delete.ts";
import { dlqExportEndpoint } from "./dlq-export.ts";
import { dlqImportEndpoint } from "./dlq-import.ts";
import { dlqGroupsEndpoint } from "./dlq-groups.ts";
import { dlqJobEndpoints } from "./dlq-jobs.ts";
import { job, jobSummary } from "./job-schemas.ts";
import { dlqReadEndpoints } from "./dlq-read.ts";
import { dlqRedriveEndpoint } from "./dlq-redrive.ts";
import { dlqRedriveEntryEndpoint } from "./dlq-redrive-entry.ts";
import { LIMITS } from "./limits.ts";
import { toHttpError } from "./operation-status.ts";
import { outboxEndpoints } from "./outbox.ts";
import { Redaction, type RedactOptions } from "./redaction.ts";
import { routeEndpoints } from "./routes.ts";
import { sessionEndpoints } from "./session.ts";
import { bridgeInfo, entry, entryGroups, entryHead, entryPage, outboxPage, outboxRecord, route } from "./schemas.ts";
import { tailedLost, tailedMessage, tailEndpoint } from "./tail.ts";
import { correlatedMessages, messageTrace, traceEndpoints } from "./trace.ts";
import { condition, conditions, conditionsEndpoint } from "./conditions.ts";
import { conditionsEvent, eventsEndpoint } from "./events.ts";
import { overview } from "./overview.ts";
import { series, seriesEndpoint } from "./series.ts";
import { topologyEndpoint, topologyGraph } from "./topology.ts";

export interface AdminAppOptions extends Partial<Seams> {
  /** The bridge; `undefined` as long as the process has none, which is answered with 503. */
  readonly supervisor: () => Supervisor | undefined;
  /** Changes the configuration while the bridge runs. Absent: the endpoints of the configuration do not exist. */
  readonly configTransactions?: ConfigTransactions | undefined;
  /** Records what happens in the bridge. Absent: the endpoints of series and conditions do not exist. */
  readonly recorder?: Recorder | undefined;
  /** At least one key; or a ring, which may know others at each request. A key opens everything, or what its role or permissions say. */
  readonly keys?: AdminKeys | Keyring | undefined;
  /** Tells who calls and what they may do, in place of `keys`. Audit records name the caller. */
  readonly authenticate?: Authenticate | undefined;
  /** Takes a record of every call and of every failed login. */
  readonly auditor: Auditor;
  /**
   * Sessions of browsers, which have a cookie in place of a key. Default: there are some. `false`, `authenticate`, and a ring of keys
   * without `holder` have none.
   */
  readonly sessions?: SessionsOfBrowsers | false | undefined;
  /** Of the program, for whoever asks who answers. */
  readonly version?: string | undefined;
  /** Bounds starts, stops, injects and each replay of a redrive; looking into a store, and changes of the DLQ, 20 s at most. Default 30 s. */
  readonly operationTimeoutMs?: number | undefined;
  /** Bounds a redrive as a whole. Default 60 s. */
  readonly redriveTimeoutMs?: number | undefined;
  /** Origins that browsers may call from (spec 5.8). Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** What of messages is shown only to callers with `payload.raw`. */
  readonly redact?: RedactOptions | undefined;
  /** Default: 5 failed logins a minute and client. */
  readonly throttle?: ThrottleOptions | undefined;
}

/** How long sessions live, and how they are known. */
export type SessionsOfBrowsers = Omit<SessionOptions, "bridgeId">;

const NAMED_SCHEMAS = {
  AuditPage: auditPage,
  AuditVerification: auditVerification,
  BridgeInfo: bridgeInfo,
  Condition: condition,
  Conditions: conditions,
  ConditionsEvent: conditionsEvent,
  CorrelatedMessages: correlatedMessages,
  Entry: entry,
  EntryGroups: entryGroups,
  EntryHead: entryHead,
  EntryPage: entryPage,
  MessageTrace: messageTrace,
  Job: job,
  JobSummary: jobSummary,
  OutboxPage: outboxPage,
  OutboxRecord: outboxRecord,
  Overview: overview,
  Route: route,
  Series: series,
  TailedLost: tailedLost,
  TailedMessage: tailedMessage,
  Topology: topologyGraph,
};

/**
 * The admin server (spec 4.2): everything behind an admin key or an authentication of your own, and every call recorded.
 * @throws Error when there is neither or both, or a key, a key name or an origin is malformed, or a timeout
 * is no time
 */
export function createAdminApp(options: AdminAppOptions): ServedApp {
  const { operationTimeoutMs = LIMITS.operationTimeoutMs, redriveTimeoutMs = LIMITS.redriveTimeoutMs } = options;
  const { configTransactions, keys, recorder, sessions = {}, version } = options;
  for (const [name, ms] of Object.entries({ operationTimeoutMs, redriveTimeoutMs }))
    if (!(ms > 0 && Number.isFinite(ms)))
      throw new RangeError(`${name} is ${String(ms)}: give it a number of milliseconds above 0`);
  const clock = options.clock ?? systemClock;
  const bridge = new BridgeAccess(options.supervisor, clock, operationTimeoutMs);
  const redaction = new Redaction(options.redact);
  const keyring = keyringOf(keys, adminKeyring);
  const hasSessions = sessions !== false && keyring?.holder !== undefined;
  return serve({
    server: "admin",
    endpoints: [
      ...sessionEndpoints({ bridge, version, hasSessions }),
      ...bridgeEndpoints(bridge),
      ...routeEndpoints(bridge),
      topologyEndpoint(bridge),
      eventsEndpoint(bridge, recorder),
      ...(recorder === undefined ? [] : [seriesEndpoint(recorder), conditionsEndpoint(recorder)]),
      tailEndpoint(bridge, redaction),
      ...traceEndpoints(bridge),
      ...dlqReadEndpoints(bridge, redaction),
      dlqGroupsEndpoint(bridge),
      dlqAnnotateEndpoint(bridge),
      ...dlqJobEndpoints(bridge, redaction),
      dlqExportEndpoint(bridge, redaction),
      dlqImportEndpoint(bridge),
      dlqRedriveEndpoint(bridge, { timeoutMs: redriveTimeoutMs, replayTimeoutMs: operationTimeoutMs }),
      dlqRedriveEntryEndpoint(bridge, { timeoutMs: redriveTimeoutMs, replayTimeoutMs: operationTimeoutMs }),
      ...dlqDeleteEndpoints(bridge),
      ...outboxEndpoints(bridge, redaction),
      ...(configTransactions === undefined
        ? []
        : [
            ...configEndpoints(configTransactions),
            ...configTransactionEndpoints(configTransactions),
            ...configProbationEndpoints(configTransactions),
          ]),
      ...damageEndpoints(bridge),
      ...auditEndpoints(options.auditor, clock),
    ],
    schemas: NAMED_SCHEMAS,
    describe: { access: "admin", audit: "api.describe" },
    keyring,
    sessions: hasSessions ? { ...sessions, bridgeId: () => options.supervisor()?.config().bridge.id } : undefined,
    authenticate: options.authenticate,
    audit: options.auditor,
    translate: toHttpError,
    veil: () => options.supervisor()?.veil,
    corsOrigins: options.corsOrigins,
    throttle: options.throttle,
    clock,
    random: options.random ?? systemRandom(),
    logger: steadyLogger(options.logger ?? silentLogger),
  });
}

function adminKeyring(keys: AdminKeys): Keyring {
  const named = namedAdminKeys(keys);
  if (named.length === 0) throw new Error("the admin server needs a key: give adminApiKey or adminApiKeys");
  return createKeyring(named);
}
