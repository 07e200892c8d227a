import { serverOf } from "./client-config.ts";
import type { ConnectionOptions } from "./connection-options.ts";

/**
 * For a store's `place`: the server, the database, the schema and the tables of `role`, whoever connects and however.
 * Two names of one server are two places, `localhost` and `127.0.0.1` too: another server may listen on `::1`. To take
 * two servers for one would leave messages behind without a word.
 */
export function postgresPlace(role: string, options: ConnectionOptions): string {
  const { label } = serverOf(options, { connectTimeoutMs: 0, statementTimeoutMs: 0 });
  return `postgres ${label} ${options.schema}.${role}`;
}
