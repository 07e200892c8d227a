import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import type { Site } from "./site.ts";

export const CONFIG_TABLE = "bridge-config";

/** An emulator of DynamoDB that the processes of a site use. */
export async function tablesFor(site: Site): Promise<Tables> {
  const dynamo = await testDynamo();
  Object.assign(site.env, { AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint });
  return new Tables(dynamo);
}

export class Tables implements AsyncDisposable {
  readonly dynamo: TestDynamo;
  readonly #client: DynamoDBClient;

  constructor(dynamo: TestDynamo) {
    this.dynamo = dynamo;
    this.#client = new DynamoDBClient(dynamo.sdk);
  }

  /** What an operator does: the configuration of `bridgeId`, as the package's README says. */
  async putConfig(bridgeId: string, document: object): Promise<void> {
    const Item = { config_key: { S: bridgeId }, part: { S: "document" }, document: { S: JSON.stringify(document) } };
    await this.#client.send(new PutItemCommand({ TableName: CONFIG_TABLE, Item }));
  }

  async drop(name: string): Promise<void> {
    await this.#client.send(new DeleteTableCommand({ TableName: name }));
  }

  /** A table of another program. */
  async makeForeign(name: string): Promise<void> {
    const key = { AttributeName: "theirs" };
    await this.#client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ ...key, AttributeType: "S" }],
        KeySchema: [{ ...key, KeyType: "HASH" }],
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
    await this.dynamo[Symbol.asyncDispose]();
  }
}
