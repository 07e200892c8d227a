/** What measures and migrates the tables from outside. Not part of what versions promise. @module */
export { migrate } from "./client/migrations.ts";
export { PostgresClient } from "./client/postgres-client.ts";
