import { globSync, readFileSync } from "node:fs";
import { adapterSources } from "@bridge/tooling/adapter-sources";
import { describe, expect, test } from "vitest";
import { QUEUE_ACTIONS, SECRET_ACTIONS } from "../src/permissions.ts";
import { STORES, type StoreRole } from "../src/stores.ts";

/** What functions of the kit ask for on behalf of a store. */
const BY_KIT = [
  ["openTable", "DescribeTable"],
  ["readBatch", "BatchGetItem"],
  ["writeBatch", "BatchWriteItem"],
] as const;

function sourcesOf(name: string): string {
  const files = globSync(`${adapterSources(name)}/**/*.ts`);
  if (files.length === 0) throw new Error(`there are no sources of ${name}`);
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}

/** The operations of AWS that a package asks for. */
function askedBy(name: string): readonly string[] {
  const text = sourcesOf(name);
  const byItself = Array.from(text.matchAll(/new (\w+)Command\(/g), ([, operation = ""]) => operation);
  const byKit = BY_KIT.filter(([call]) => text.includes(`${call}(`)).map(([, operation]) => operation);
  return [...new Set([...byItself, ...byKit])].toSorted();
}

describe("what is permitted is what the sources ask for, no less and no more", () => {
  test.each(Object.keys(STORES) as StoreRole[])("of the table %s", (role) => {
    const { operations, queries } = STORES[role];
    const permitted = queries === "none" ? operations : [...operations, "Query"];
    expect(permitted.toSorted()).toEqual(askedBy(`${role}-dynamodb`));
    expect(queries === "indexes").toBe(sourcesOf(`${role}-dynamodb`).includes("IndexName"));
  });

  test("of parameters and secrets", () => {
    expect(Object.values(SECRET_ACTIONS).toSorted()).toEqual(askedBy("secrets-aws"));
  });

  test("of queues, where the permission for one message is that for several", () => {
    const asked = askedBy("transport-sqs").map((operation) => operation.replace(/Batch$/, ""));
    expect(new Set(Object.values(QUEUE_ACTIONS).flat())).toEqual(new Set(asked));
  });
});
