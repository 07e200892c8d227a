import { serverOf } from "./client-config.ts";
import type { ConnectionOptions } from "./connection-options.ts";

/** For a store's `place`: the server, the database, the schema and the tables of `role`, whoever connects and however. */
export function postgresPlace(role: string, options: ConnectionOptions): string {
  const { label } = serverOf(options, { connectTimeoutMs: 0, statementTimeoutMs: 0 });
  return `postgres ${label} ${options.schema}.${role}`;
}
