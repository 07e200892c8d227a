/** The reference binary with leases and an outbox on DynamoDB, for tests. @module */
import process from "node:process";
import { runBridge } from "@bridge/host";
import { dynamodbLeasePlugin } from "@bridge/lease-dynamodb";
import { dynamodbOutboxPlugin } from "@bridge/outbox-dynamodb";
import { plugins } from "../../src/compose.ts";

const program = { name: "clustered bridge", version: "0.0.0" };
const { outboxStores = [], ...others } = plugins();
const stores = { leaseStores: [dynamodbLeasePlugin], outboxStores: [...outboxStores, dynamodbOutboxPlugin] };
process.exit(await runBridge({ program, plugins: { ...others, ...stores } }, process));
