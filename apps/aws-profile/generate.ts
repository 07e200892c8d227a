/**
 * Writes the reference page of the bootstrap document and of the adapters that only this binary has, from their schemas.
 * A test holds the committed one against it. Run by `pnpm --filter @bridge/aws-profile reference`. @module
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { adapterReference, adapterTypes, createRegistry } from "@bridge/config";
import { adapterSources } from "@bridge/tooling/adapter-sources";
import { documentReference } from "@bridge/config/documents";
import { bootstrapSchema } from "./src/bootstrap/schema.ts";
import { awsPlugins } from "./src/compose.ts";

const INTRODUCTION = `# Reference of the AWS profile

[aws.md](aws.md) says how these work together. Types and all other keys of the configuration are in
[configuration.md](configuration.md).

## Bootstrap document

`;

const REFERENCE_PAGE = here("../../docs/aws-reference.md");

function referencePage(): string {
  const adapters = adapterReference(createRegistry(awsPlugins()));
  return `${INTRODUCTION}${documentReference(bootstrapSchema)}\n${adapters}`;
}

/** The text of each generated file, by its path. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const types = [...adapterTypes(createRegistry(awsPlugins()))].map(
    ([name, text]) => [`${adapterSources(name)}/option-types.ts`, text] as const,
  );
  return new Map([[REFERENCE_PAGE, referencePage()], ...types]);
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) for (const [path, text] of generatedFiles()) writeFileSync(path, text);
