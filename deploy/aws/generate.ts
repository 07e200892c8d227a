/**
 * Writes the files that are made from the stack and from the schema of its deployment file. A test holds the committed
 * ones against it. Run by `pnpm --filter @bridge/deploy-aws run generate`. @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { documentReference } from "@bridge/config/documents";
import { Template } from "aws-cdk-lib/assertions";
import { bridgeApp } from "./src/app.ts";
import { deploymentSchema, parseDeployment } from "./src/deployment.ts";
import { pinnedImage } from "./src/image.ts";
import { taskDefinitionJson, type Template as Made } from "./src/task-definition-json.ts";

const NO_IMAGE = pinnedImage(`bridge-aws@sha256:${"0".repeat(64)}`);
const HEADING =
  "# The deployment file\n\nMade by `pnpm run generate`; what it is for is in [README.md](README.md).\n\n";

/** The text of each generated file, by its path. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const example = JSON.parse(readFileSync(here("deployment.example.json"), "utf8")) as unknown;
  const { stack } = bridgeApp(parseDeployment(example), NO_IMAGE);
  const task = taskDefinitionJson(Template.fromStack(stack).toJSON() as Made);
  return new Map([
    [here("task-definition.json"), `${JSON.stringify(task, undefined, 2)}\n`],
    [here("deployment.md"), `${HEADING}${documentReference(deploymentSchema)}\n`],
  ]);
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (import.meta.main) {
  for (const [path, text] of generatedFiles()) writeFileSync(path, text);
}
