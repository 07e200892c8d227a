import type { Place } from "../cluster/instance.ts";

/** What to try, as commands for a shell. */
export function commands(places: readonly Place[], databaseUrl: string, key: string): string {
  const [a, b] = places.map(({ admin }) => `http://127.0.0.1:${admin}/api/v1/admin`);
  const curl = `curl -sS -H 'X-API-Key: ${key}'`;
  return `
Kill the active instance (its pid stands in the line below); the other takes over within 5 s and nothing is lost:
  kill -9 PID

See the dead letters from both (the service refuses some readings):
  ${curl} ${a}/dlq
  ${curl} ${b}/dlq

Send the oldest again from one, which the service takes now, and see it gone from the other:
  ID=$(${curl} '${a}/dlq/messages?limit=1' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
  ${curl} -d "{\\"ids\\":[\\"$ID\\"]}" ${a}/dlq/redrive
  ${curl} ${b}/dlq/messages/$ID

Look into the tables:
  psql ${databaseUrl} -c 'SELECT * FROM bridge.leases'

Logs: ${places.map(({ log }) => log).join(" ")}

`;
}
