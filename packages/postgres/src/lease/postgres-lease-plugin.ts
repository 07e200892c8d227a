import { defineFactory, type LeaseStore, type LeaseStorePlugin, type PluginContext } from "@bridge/ports";
import { postgresOptions } from "../client/connection-options.ts";
import { tableMaker } from "../client/table-maker.ts";
import { LEASE_TABLES } from "./lease-tables.ts";
import { openPostgresLeases } from "./open-postgres-leases.ts";

/** The lease store `postgres`. */
export const postgresLeasePlugin: LeaseStorePlugin = {
  type: "postgres",
  role: "lease",
  reach: "cluster",
  createTables: tableMaker(LEASE_TABLES),
  ...defineFactory({
    options: postgresOptions({}),
    create:
      (connection, { clock, random, logger }: PluginContext) =>
      (signal): Promise<LeaseStore> =>
        openPostgresLeases({ connection, clock, random, logger }, signal),
  }),
};
