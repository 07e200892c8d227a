import { PATIENCE } from "@bridge/tooling/patience";
import { tcpProxy } from "@bridge/conformance";
import { createTable, DynamoClient, outboxTable } from "@bridge/dynamodb";
import { systemClock, systemRandom } from "@bridge/ports";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import type { AwayStore, Trouble } from "./away-store.ts";
import { Binary } from "./binary.ts";
import { bridgeOnDynamodb } from "./bridge-on-dynamodb.ts";
import type { Folder } from "./folder.ts";

const TABLE = "outbox";

const WRITES = /^(?:BatchWrite|Delete|Put|TransactWrite|Update)/;
let asked = 0;

const FAULTS: Partial<Record<Trouble, TestDynamo["choose"]>> = {
  "answers errors": () => ({ error: "InternalServerError", status: 500 }),
  "throttles writes": (operation) =>
    WRITES.test(operation) ? { error: "ProvisionedThroughputExceededException" } : undefined,
  "lets nobody write": (operation) => (WRITES.test(operation) ? { error: "AccessDeniedException" } : undefined),
  "has no such table": () => ({ error: "ResourceNotFoundException" }),
  // A write that is tried again meets its own work.
  "loses answers": () => (asked++ % 3 === 0 ? "lose-answer" : undefined),
};

/** A table of an emulator in this process, by way of a proxy. */
export async function dynamodbOutbox(folder: Folder): Promise<AwayStore> {
  const dynamo = await testDynamo();
  const proxy = await tcpProxy({ target: { port: Number(new URL(dynamo.endpoint).port) } });
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk });
  await createTable(outboxTable(TABLE), client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
  const { file, env } = await bridgeOnDynamodb({ ...dynamo.sdk, endpoint: `http://${proxy.host}:${proxy.port}` });
  return {
    block: `{type: dynamodb, options: {table_name: ${TABLE}}}`,
    run: () => new Binary([], { cwd: folder.path, file, env }),
    async begin(trouble) {
      if (trouble === "hangs") return proxy.freeze();
      const fault = FAULTS[trouble];
      if (fault !== undefined) dynamo.choose = fault;
      else {
        proxy.refuse();
        proxy.cut();
      }
    },
    async end() {
      dynamo.choose = () => undefined;
      await proxy.restore();
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await dynamo[Symbol.asyncDispose]();
    },
  };
}
