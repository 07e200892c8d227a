/** The reference binary with leases on DynamoDB, for tests of several processes. @module */
import process from "node:process";
import { runBridge } from "@bridge/host";
import { dynamodbLeasePlugin } from "@bridge/lease-dynamodb";
import { plugins } from "../../src/compose.ts";

const program = { name: "clustered bridge", version: "0.0.0" };
process.exit(await runBridge({ program, plugins: { ...plugins(), leaseStores: [dynamodbLeasePlugin] } }, process));
