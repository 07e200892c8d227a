import { BridgeError } from "@bridge/ports";
import type { Migrations } from "./migrations.ts";
import { keyOf, type Needed } from "./needed.ts";
import type { PostgresClient } from "./postgres-client.ts";

const REMEDY = "make them with `bridge -create-tables`";

export function missing({ store, steps }: Migrations, version: number, { schema, label }: PostgresClient): BridgeError {
  const where = `schema ${schema} at ${label}`;
  if (version === 0) {
    return new BridgeError("DESTINATION_NOT_FOUND", `${where} has no tables of the store ${store}: ${REMEDY}`);
  }
  const text = `the tables of the store ${store} in ${where} are of version ${version}, needed is ${steps.length}: ${REMEDY}`;
  return new BridgeError("SCHEMA_VIOLATION", text);
}

export function incomplete(
  { store }: Migrations,
  parts: readonly Needed[],
  lacks: readonly Needed[],
  { schema, label }: PostgresClient,
): BridgeError {
  const names = lacks.map(keyOf).join(", ");
  const left = parts.filter((one) => one.kind === "table" && !lacks.includes(one)).map(({ name }) => name);
  const text = `the store ${store} in schema ${schema} at ${label} lacks: ${names}: restore it from a backup; or drop the tables that are left of it (${left.join(", ")}) with all that is in them, and make them anew with \`bridge -create-tables\``;
  return new BridgeError("DESTINATION_NOT_FOUND", text);
}

export function refuseNewer({ store, steps }: Migrations, version: number, { schema, label }: PostgresClient): void {
  if (version <= steps.length) return;
  const text = `the tables of the store ${store} in schema ${schema} at ${label} are of version ${version}, newer than this bridge knows (${steps.length}): run the newer bridge`;
  throw new BridgeError("SCHEMA_VIOLATION", text);
}
