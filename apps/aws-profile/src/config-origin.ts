import { openDynamodbConfig } from "@bridge/dynamodb";
import { referenceSources } from "@bridge/config-file";
import { type ConfigOrigin, fileOrigin, type HostProcess, storeOrigin, type Surroundings } from "@bridge/host";
import { systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import type { SecretReader } from "@bridge/secrets-aws";
import type { Bootstrap } from "./bootstrap/bootstrap.ts";
import { awsReferences } from "./references.ts";

const OPEN_TIMEOUT_MS = 20_000;

/**
 * Where the configuration of this instance comes from, as its bootstrap document says. The document of a table is the one
 * of the bridge's id; a relative path in a reference of it starts at the working folder.
 * @throws Error when there is no such table, or it has another form
 */
export async function configOrigin(
  { bridgeId, configSource, pollIntervalMs }: Bootstrap,
  secrets: SecretReader,
  env: HostProcess["env"],
  { watch, clock, random, logger }: Surroundings,
): Promise<ConfigOrigin> {
  const references = awsReferences(secrets);
  if (configSource.kind === "file") return fileOrigin(configSource.path, { env, references, watch, clock, logger });
  const { tableName } = configSource;
  using limit = deadline(systemClock, OPEN_TIMEOUT_MS, new Error(`the table ${tableName} was not opened in 20 s`));
  const polling = () => ({ pollIntervalMs });
  const options = { tableName, document: bridgeId, watch: polling, clock, random, logger };
  return storeOrigin(await openDynamodbConfig(options, limit.signal), referenceSources("", env, references));
}
