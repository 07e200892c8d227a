import { BridgeError, type PluginContext, type TableMaker } from "@bridge/ports";
import type { ConnectionOptions } from "./connection-options.ts";
import { migrate, type Migrations } from "./migrations.ts";
import { PostgresClient } from "./postgres-client.ts";

/** What the plugin of a store has as `createTables`: it makes its tables in the schema that the options name. */
export function tableMaker(migrations: Migrations): TableMaker {
  return (options: unknown, { clock, random }: PluginContext) =>
    async (signal) => {
      await using client = new PostgresClient({ ...(options as ConnectionOptions), pool_size: 1 }, { clock, random });
      const { from, to } = await migrate(migrations, client, signal).catch((error: unknown) => {
        throw inTheWay(error, client.schema);
      });
      const does = from === 0 ? "made" : from === to ? "were there" : `brought from version ${from} to ${to}`;
      return [`${client.label}, schema ${client.schema}: tables of the store ${migrations.store} ${does}`];
    };
}

/** The remedy of a store that finds its tables wanting is to make them, which is what has just failed. */
function inTheWay(thrown: unknown, schema: string): unknown {
  const state = /SQLSTATE 42\w+/.exec(BridgeError.from(thrown).message)?.[0];
  if (!BridgeError.is(thrown) || thrown.code !== "DESTINATION_NOT_FOUND" || state === undefined) return thrown;
  const why =
    `in the schema ${schema} something else has the name of a table, an index or a function of the bridge, or only some of its ` +
    `own are left (${state}; the server's log names it): take away what is in the way, or name another schema`;
  return new BridgeError(thrown.code, why, { cause: thrown, charged: false });
}
