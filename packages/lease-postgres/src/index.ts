export { LEASE_TABLES } from "./lease-tables.ts";
export { openPostgresLeases, type PostgresLeasesOptions } from "./open-postgres-leases.ts";
export { postgresLeasePlugin } from "./postgres-lease-plugin.ts";
export { postgresLeases } from "./postgres-leases.ts";
export type * from "./option-types.ts";
