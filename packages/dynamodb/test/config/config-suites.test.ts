import { describeConfigStaging, describeConfigStore } from "@bridge/conformance";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll } from "vitest";
import { ConfigTable, dynamodbSubject } from "./support/config-tables.ts";

const table = await ConfigTable.make(await testDynamo());
afterAll(() => table[Symbol.asyncDispose]());

describeConfigStore("dynamodb", dynamodbSubject(table));
describeConfigStaging("dynamodb", dynamodbSubject(table));
