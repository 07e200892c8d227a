import { env } from "node:process";
import { readClientTls } from "@bridge/ports/internal";
import { BridgeError } from "@bridge/ports";
import { Client, type ClientConfig, types } from "pg";
import type { ConnectionOptions } from "./connection-options.ts";
import { parseServerUrl } from "./server-url.ts";

/** Shows up in `pg_stat_activity`. */
const APPLICATION = "bridge";
const KEEP_ALIVE_MS = 10_000;
const { INT8 } = types.builtins;

/** How to reach a server: what the client library is told, and what may be shown of it. */
export interface Server {
  /** `host:port/database`. */
  readonly label: string;
  /** For each connection anew, so that renewed certificates are used without a restart. */
  config(): Promise<ClientConfig>;
}

export interface ServerLimits {
  readonly connectTimeoutMs: number;
  /** After which the server gives a statement up. */
  readonly statementTimeoutMs: number;
}

export function serverOf(options: ConnectionOptions, { connectTimeoutMs, statementTimeoutMs }: ServerLimits): Server {
  const { url, host, port, database, user, password } = options;
  const said = url === undefined ? {} : parseServerUrl(url);
  const { tls, ...address } = { host, port, database, user, ...said };
  const config: ClientConfig = {
    ...address,
    password: password ?? said.password ?? passwordOfEnvironment,
    application_name: APPLICATION,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // Counts and times; none of ours is beyond what a number holds.
    types: {
      getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)) as never,
    },
  };
  const { host: shownHost, port: shownPort, database: shownDatabase } = new Client({ ...config, ssl: false });
  const secure = tls ?? (options.tls !== undefined || undefined);
  return {
    label: `${shownHost}:${shownPort}/${shownDatabase ?? ""}`,
    config: async () => ({
      ...config,
      ...(secure !== undefined && { ssl: secure && (await readClientTls(options.tls)) }),
    }),
  };
}

/** Is asked only when the server wants a password. */
function passwordOfEnvironment(): string {
  const password = env["PGPASSWORD"] ?? "";
  if (password !== "") return password;
  throw new BridgeError("NOT_AUTHORIZED", "the server asks for a password: set the option password, or PGPASSWORD", {
    charged: false,
  });
}
