/**
 * Writes the files that are generated from the configuration's schema and from the options of this binary's adapters.
 * A test holds the committed ones against it. Run by `pnpm --filter @bridge/reference schema`. @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { adapterTypes, configJsonSchema, configReference, createRegistry, documentTypes } from "@bridge/config";
import { adapterSources } from "@bridge/tooling/adapter-sources";
import { plugins } from "./src/compose.ts";

/** The text of each generated file, by its path. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const registry = createRegistry(plugins());
  return new Map([
    [here("schema/bridge.schema.json"), `${JSON.stringify(configJsonSchema(registry), undefined, 2)}\n`],
    [here("../../docs/configuration.md"), configReference(registry)],
    [here("../../packages/config/src/bridge-document.ts"), documentTypes()],
    ...[...adapterTypes(registry)].map(([name, text]) => [`${adapterSources(name)}/option-types.ts`, text] as const),
  ]);
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) {
  for (const [path, text] of generatedFiles()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
