import type { PluginContext, TableMaker } from "@bridge/ports";
import type { ConnectionOptions } from "./connection-options.ts";
import { migrate, type Migrations } from "./migrations.ts";
import { PostgresClient } from "./postgres-client.ts";

/** What the plugin of a store has as `createTables`: it makes its tables in the schema that the options name. */
export function tableMaker(migrations: Migrations): TableMaker {
  return (options: unknown, { clock, random }: PluginContext) =>
    async (signal) => {
      await using client = new PostgresClient({ ...(options as ConnectionOptions), pool_size: 1 }, { clock, random });
      const { from, to } = await migrate(migrations, client, signal);
      const does = from === 0 ? "made" : from === to ? "were there" : `brought from version ${from} to ${to}`;
      return [`${client.label}, schema ${client.schema}: tables of the store ${migrations.store} ${does}`];
    };
}
