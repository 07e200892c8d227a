import { readFileSync } from "node:fs";
import { CreateTableCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "@bridge/dynamodb";
import { systemClock, systemRandom } from "@bridge/ports";
import { parseDuration } from "@bridge/ports/options";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { expect, test } from "vitest";
import { Place } from "./support/place.ts";
import { synthesized } from "./support/synthesized.ts";
import { creationOf } from "./support/table-input.ts";

const CONFIGURATION = readFileSync(new URL("../bridge.example.json", import.meta.url), "utf8");
const { signal } = new AbortController();

const stack = synthesized();
const [container] = stack.only("AWS::ECS::TaskDefinition")["ContainerDefinitions"] as readonly [
  {
    readonly StopTimeout: number;
    readonly Environment: readonly { readonly Name: string; readonly Value: unknown }[];
  },
];

test("the bridge accepts the bootstrap document of the task, and the example's configuration from the table", async () => {
  const bootstrap = container.Environment.find(({ Name }) => Name === "BRIDGE_BOOTSTRAP_JSON")?.Value;
  await using place = await Place.open();
  await using dynamo = await testDynamo();
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk });
  const table = creationOf(stack, "bridge-plant-7-config");
  await client.send(new CreateTableCommand(table), signal);
  // As the README puts it there.
  const Item = { config_key: { S: "plant-7" }, part: { S: "document" }, document: { S: CONFIGURATION } };
  await client.send(new PutItemCommand({ TableName: "bridge-plant-7-config", Item }), signal);

  const env = { AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint, AWS_REGION: dynamo.sdk.region };
  await using bridge = place.run(String(bootstrap), ["-validate"], env);
  expect({ code: await bridge.ended, stderr: bridge.stderr }).toEqual({ code: 0, stderr: "" });
});

test("spec 8: ECS waits longer than the example's shutdown_timeout", () => {
  const { bridge } = JSON.parse(CONFIGURATION) as { readonly bridge: { readonly shutdown_timeout: string } };
  expect(container.StopTimeout * 1_000).toBeGreaterThan(parseDuration(bridge.shutdown_timeout) ?? Infinity);
});
