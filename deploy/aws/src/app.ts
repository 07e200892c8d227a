import { App } from "aws-cdk-lib/core";
import { BridgeStack } from "./bridge-stack.ts";
import type { Deployment } from "./deployment.ts";
import type { Image } from "./image.ts";

/** An app of one stack. What the CDK's own rules find wrong with the template fails its synthesis. */
export function bridgeApp(deployment: Deployment, image: Image, outdir?: string): { app: App; stack: BridgeStack } {
  const app = new App({
    analyticsReporting: false,
    ...(outdir !== undefined && { outdir }),
    postCliContext: { "@aws-cdk/core:validateAgainstDefaultRules": true },
  });
  return { app, stack: new BridgeStack(app, deployment, image) };
}
