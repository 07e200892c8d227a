export { type ConnectionOptions, type OptionsSchema, postgresOptions } from "./connection-options.ts";
export { type Hearing, type HearingOptions } from "./listen.ts";
export { migrate, type Migrated, type Migrations, openPostgres } from "./migrations.ts";
export { PostgresClient, type PostgresOptions } from "./postgres-client.ts";
export { postgresPlace } from "./postgres-place.ts";
export { type Answer, type Statement, type Transaction } from "./statement.ts";
export { type TransactionOptions } from "./transaction.ts";
export { type WriteTrial } from "./write-trial.ts";
export { tableMaker } from "./table-maker.ts";
