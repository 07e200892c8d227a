/**
 * Writes the reference page of the bootstrap document and of the adapters that only this binary has, from their schemas.
 * A test holds the committed one against it. Run by `pnpm --filter @bridge/aws-profile reference`. @module
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { adapterReference, createRegistry } from "@bridge/config";
import { documentReference } from "@bridge/config/documents";
import { bootstrapSchema } from "./src/bootstrap/schema.ts";
import { awsPlugins } from "./src/compose.ts";

const INTRODUCTION = `# Reference of the AWS profile

What these mean together stands in [aws.md](aws.md); types and all other keys of the configuration in
[configuration.md](configuration.md).

## Bootstrap document

`;

export const REFERENCE_PAGE = fileURLToPath(new URL("../../docs/aws-reference.md", import.meta.url));

export function referencePage(): string {
  const adapters = adapterReference(createRegistry(awsPlugins()));
  return `${INTRODUCTION}${documentReference(bootstrapSchema)}\n${adapters}`;
}

if (import.meta.main) writeFileSync(REFERENCE_PAGE, referencePage());
