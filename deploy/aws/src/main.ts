/**
 * The CDK's app: `cdk deploy -c deployment=FILE -c image=NAME@sha256:…`. Without the CDK's command, `pnpm run synth FILE
 * NAME@sha256:…` writes the same template to `cdk.out/`. @module
 */
import { readFileSync } from "node:fs";
import { argv, env, exit, stderr } from "node:process";
import { bridgeApp } from "./app.ts";
import { parseDeployment } from "./deployment.ts";
import { pinnedImage } from "./image.ts";

const USAGE = "give a deployment file and an image: cdk deploy -c deployment=FILE -c image=NAME@sha256:…";

try {
  const context = JSON.parse(env["CDK_CONTEXT_JSON"] ?? "{}") as Readonly<Record<string, unknown>>;
  const [file = context["deployment"], image = context["image"]] = argv.slice(2);
  if (typeof file !== "string") throw new Error(USAGE);
  const deployment = parseDeployment(JSON.parse(readFileSync(file, "utf8")));
  bridgeApp(deployment, pinnedImage(image), env["CDK_OUTDIR"] ?? "cdk.out").app.synth();
} catch (error) {
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  exit(1);
}
