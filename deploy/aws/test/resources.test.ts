import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { createTable, DynamoClient } from "@bridge/dynamodb";
import { systemClock, systemRandom } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { describe, expect, test } from "vitest";
import { STORES, type StoreRole } from "../src/stores.ts";
import { synthesized } from "./support/synthesized.ts";
import { creationOf } from "./support/table-input.ts";

const stack = synthesized();
const { signal } = new AbortController();

describe("the tables", () => {
  const tables = stack.resources("AWS::DynamoDB::Table");

  test.each(Object.keys(STORES) as StoreRole[])("%s: the store finds the table as it needs it", async (role) => {
    const name = `bridge-plant-7-${role}`;
    const table = tables.find(({ Properties }) => Properties["TableName"] === name)?.Properties;
    const description = STORES[role].describe(name);
    await using dynamo = await testDynamo();
    await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk });
    await client.send(new CreateTableCommand(creationOf(stack, name)), signal);
    // Refuses a table of another form.
    expect(await createTable(description, client, systemClock, signal)).toMatchObject({ table: "present" });
    expect(table?.["TimeToLiveSpecification"]).toEqual(
      description.ttlAttribute === undefined ? undefined : { AttributeName: description.ttlAttribute, Enabled: true },
    );
  });

  test("outlive the stack, can be put back to any second, and are not deleted by mistake", () => {
    expect(tables).toHaveLength(Object.keys(STORES).length);
    for (const table of tables) {
      expect(table).toMatchObject({
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      });
    }
  });
});

describe("the queues", () => {
  const byName = (name: string) =>
    stack.resources("AWS::SQS::Queue").find(({ Properties }) => Properties["QueueName"] === name);

  test("give a message up long after the bridge would have", () => {
    const redrive = byName("bridge-plant-7-commands")?.Properties["RedrivePolicy"] as { maxReceiveCount: number };
    expect(redrive.maxReceiveCount).toBeGreaterThan(5);
    const more = synthesized({ queues: [{ name: "commands", use: "receive", max_replay_attempts: 50 }] });
    expect(more.resources("AWS::SQS::Queue").map(({ Properties }) => Properties["RedrivePolicy"])).toEqual([
      undefined,
      expect.objectContaining({ maxReceiveCount: 60 }),
    ]);
  });

  test("what is given up goes to a queue of the same kind, which keeps it as long as SQS can", () => {
    expect(byName("bridge-plant-7-orders.fifo")?.Properties).toMatchObject({ FifoQueue: true });
    expect(byName("bridge-plant-7-orders-given-up.fifo")?.Properties).toMatchObject({
      FifoQueue: true,
      MessageRetentionPeriod: 14 * 24 * 3_600,
    });
  });

  test("are encrypted, outlive the stack, and answer to nobody without TLS", () => {
    const queues = stack.resources("AWS::SQS::Queue");
    expect(queues).toHaveLength(4);
    for (const queue of queues) {
      expect(queue).toMatchObject({
        DeletionPolicy: "RetainExceptOnCreate",
        UpdateReplacePolicy: "Retain",
        Properties: { SqsManagedSseEnabled: true },
      });
    }
    expect(stack.resources("AWS::SQS::QueuePolicy")).toHaveLength(queues.length);
  });
});

test("what operators look for is an output", () => {
  expect(Object.keys(stack.json.Outputs)).toEqual(
    expect.arrayContaining([
      "ClusterName",
      "ServiceName",
      "SecurityGroupId",
      "LogGroupName",
      "AdminKeyPlace",
      "Queueorders",
    ]),
  );
});
