export { DLQ_TABLES } from "./dlq-tables.ts";
export { openPostgresDlq, type PostgresDlqOptions } from "./open-postgres-dlq.ts";
export { postgresDlqPlugin } from "./postgres-dlq-plugin.ts";
export { postgresDlq } from "./postgres-dlq.ts";
export type * from "./option-types.ts";
