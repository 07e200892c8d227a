import { patientClock } from "@bridge/conformance";
import { type Random, systemRandom } from "@bridge/ports";
import { type ConnectionOptions } from "../../../src/client/connection-options.ts";
import { PostgresClient, type PostgresOptions } from "../../../src/client/postgres-client.ts";

/** Waits between tries are 0. */
export const AT_ONCE: Random = { ...systemRandom(), next: () => 0 };

export function openClient(connection: ConnectionOptions, more: Partial<PostgresOptions> = {}): PostgresClient {
  return new PostgresClient(connection, { clock: patientClock, random: AT_ONCE, ...more });
}

/** The same server by way of somebody on loopback. */
export function by(connection: ConnectionOptions, port: number): ConnectionOptions {
  const url = new URL(connection.url ?? "");
  url.port = String(port);
  return { ...connection, url: url.href };
}

export const portOf = ({ url }: ConnectionOptions): number => Number(new URL(url ?? "").port);
