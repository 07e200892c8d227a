export { openPostgresOutbox, type PostgresOutboxOptions } from "./open-postgres-outbox.ts";
export { OUTBOX_MIGRATIONS } from "./outbox-tables.ts";
export { postgresOutboxPlugin } from "./postgres-outbox-plugin.ts";
export { postgresOutbox } from "./postgres-outbox.ts";
export type * from "./option-types.ts";
