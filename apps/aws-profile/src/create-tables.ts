import type { BridgeConfig, Registry, StoreRole } from "@bridge/config";
import { configTable, createTable, DynamoClient, type TableDescription } from "@bridge/dynamodb";
import type { Ending, HostProcess } from "@bridge/host";
import { BridgeError, systemClock, systemRandom } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import type { Bootstrap } from "./bootstrap/bootstrap.ts";
import { TABLES } from "./compose.ts";
import { openOnce } from "./one-shot.ts";

/** Making a table takes the service some seconds. */
const TIMEOUT_MS = 300_000;

/**
 * Makes the tables that the bootstrap document and the configuration name, and tells of each whether it was made or was
 * there (`-create-tables`). Nothing of a table that is there is changed, but for its time to live, which is switched on.
 * @throws Error when one cannot be made, or one is there that has another form
 */
export async function createTables(bootstrap: Bootstrap, registry: Registry, host: HostProcess): Promise<Ending> {
  using limit = deadline(systemClock, TIMEOUT_MS, new Error("the tables were not there after 5 minutes"));
  const { signal } = limit;
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom() });
  const make = async (description: TableDescription): Promise<void> => {
    const { table, ttl } = await createTable(description, client, systemClock, signal);
    const does = table === "created" ? "made" : "was there";
    const removal = ttl === "unsupported" ? ", items do not expire here" : "";
    host.stdout.write(`${description.name}: ${does}${removal}\n`);
  };
  await client.requireRegion();
  const { configSource } = bootstrap;
  if (configSource.kind === "dynamodb") await make(configTable(configSource.tableName));
  await using once = await openOnce(bootstrap, host);
  const { origin } = once;
  const checked = await origin.read(registry, signal);
  if (checked === "missing") {
    host.stderr.write(`${origin.store.source}: ${origin.whenMissing}: the tables of its stores are not made\n`);
    return "answered";
  }
  if (!checked.ok) {
    for (const problem of checked.problems) host.stderr.write(`${problem}\n`);
    return "not_valid";
  }
  const wanted = tablesOf(checked.config);
  if (wanted.length === 0) host.stdout.write("the configuration names no tables\n");
  const foreign: string[] = [];
  for (const description of wanted) {
    await make(description).catch((error: unknown) => {
      if (!BridgeError.is(error) || error.code !== "SCHEMA_VIOLATION") throw error;
      foreign.push(error.message);
    });
  }
  // The others are made all the same.
  if (foreign.length > 0) throw new Error(foreign.join("; "));
  return "answered";
}

/** Of two stores that name one table the second finds it of another form, and is refused. */
function tablesOf({ stores }: BridgeConfig): readonly TableDescription[] {
  const roles = Object.keys(TABLES) as StoreRole[];
  return roles.flatMap((role) => {
    const store = stores[role];
    if (store?.type !== "dynamodb") return [];
    return [TABLES[role]((store.options as { readonly table_name: string }).table_name)];
  });
}
