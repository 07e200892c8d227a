/** The reference binary with leases and an outbox on DynamoDB, for tests. @module */
import process from "node:process";
import { runBridge } from "@bridge/host";
import { dynamodbLeases, dynamodbOutbox } from "@bridge/dynamodb";
import { plugins } from "../../src/compose.ts";

const program = { name: "clustered bridge", version: "0.0.0" };
const { outboxStores = [], ...others } = plugins();
const stores = { leaseStores: [dynamodbLeases], outboxStores: [...outboxStores, dynamodbOutbox] };
process.exit(await runBridge({ program, plugins: { ...others, ...stores } }, process));
