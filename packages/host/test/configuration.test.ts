import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry } from "@bridge/config";
import { silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { fileOrigin } from "../src/config-origin.ts";
import { ConfigSource } from "../src/config-source.ts";
import { configuration } from "../src/configuration.ts";

const DOCUMENT = "config_version: 3\nbridge: {id: a}\n";

/** A start on `document`, beside which `leaving` is kept; how often it has read, and which version it runs. */
async function started(document: string, leaving?: string) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-configuration-"));
  const path = join(folder.path, "bridge.yaml");
  writeFileSync(path, document);
  if (leaving !== undefined) writeFileSync(`${path}.leaving`, leaving);
  const origin = fileOrigin(path, { env: {} });
  await using store = origin.store;
  const load = store.load.bind(store);
  let reads = 0;
  store.load = (signal) => {
    reads++;
    return load(signal);
  };
  const source = new ConfigSource({ origin, registry: createRegistry({}), clock: systemClock, logger: silentLogger });
  const { signal } = new AbortController();
  const config = await configuration(source, { startEmpty: true }, silentLogger, signal);
  return { reads, version: config?.configVersion };
}

test.each([
  ["a document", DOCUMENT, undefined, 3],
  ["an empty one while its stores are being left, which counts as missing", "# nothing yet\n", DOCUMENT, 0],
  ["an empty one beside what cannot be read, which is refused as it is", "# nothing yet\n", "{{{", undefined],
])("a start reads once %s", async (_, document, leaving, version) => {
  expect(await started(document, leaving)).toEqual({ reads: 1, version });
});
