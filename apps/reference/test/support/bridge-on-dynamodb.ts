import { fileURLToPath } from "node:url";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { bundle } from "@bridge/tooling/application";

const SOURCE = fileURLToPath(new URL("clustered-bridge.ts", import.meta.url));
const YAML_THREAD = fileURLToPath(new URL("../../../../packages/config-file/src/yaml-thread.ts", import.meta.url));
const BUILT = fileURLToPath(new URL("../../node_modules/.clustered-bridge", import.meta.url));

/** Once for a test file. */
let built: Promise<void> | undefined;

/** The program with stores on DynamoDB, and the environment in which it finds them. */
export async function bridgeOnDynamodb({ endpoint, region, credentials }: TestDynamo["sdk"]) {
  await (built ??= bundle({ "clustered-bridge": SOURCE, "yaml-thread": YAML_THREAD }, BUILT));
  return {
    file: `${BUILT}/clustered-bridge.js`,
    env: {
      NODE_OPTIONS: "--conditions=@bridge/source",
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
  };
}
