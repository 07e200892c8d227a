import type { Place } from "../cluster/instance.ts";
import { ADMIN_PARAMETER } from "./instances.ts";

const NEW_KEY = "another-admin-key-1";

/** What to try, as commands for a shell. */
export function commands(places: readonly Place[], parametersUrl: string, key: string): string {
  const [a, b] = places.map(({ admin }) => `http://127.0.0.1:${admin}/api/v1/admin`);
  const curl = (more = ""): string => `curl -sS -H 'X-API-Key: ${key}'${more}`;
  const overlay = JSON.stringify({ routes: [{ id: "readings", policy: { max_in_flight: 7 } }] });
  const parameter = JSON.stringify({ Name: ADMIN_PARAMETER, Value: NEW_KEY, Type: "SecureString", Overwrite: true });
  return `
Kill the active instance (its pid stands in the line below); the other takes over within 5 s and nothing is lost:
  kill -9 PID

Commit a configuration on one and see it on both (max_in_flight becomes 7):
  T=$(${curl(" -X POST")} ${a}/config/transactions | sed 's/.*"txn_id":"\\([^"]*\\)".*/\\1/')
  ${curl(" -X PATCH")} -d '${overlay}' ${a}/config/transactions/$T
  ${curl(" -X POST")} ${a}/config/transactions/$T/commit
  ${curl()} ${b}/routes

Rotate the admin key; both take it within a second:
  curl -sS -H 'X-Amz-Target: AmazonSSM.PutParameter' -H 'Content-Type: application/x-amz-json-1.1' -H 'Authorization: AWS4-HMAC-SHA256 -' -d '${parameter}' ${parametersUrl}
  curl -sS -H 'X-API-Key: ${NEW_KEY}' ${b}/bridge

Logs: ${places.map(({ log }) => log).join(" ")}

`;
}
