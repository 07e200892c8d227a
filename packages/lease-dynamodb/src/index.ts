export { dynamodbLeasePlugin } from "./dynamodb-lease-plugin.ts";
export { leaseTable } from "./lease-table.ts";
export { type DynamodbLeasesOptions, openDynamodbLeases } from "./open-dynamodb-leases.ts";
export { dynamodbLeases } from "./dynamodb-leases.ts";
export type * from "./option-types.ts";
