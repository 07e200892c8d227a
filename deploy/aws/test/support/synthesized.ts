import { readFileSync } from "node:fs";
import { Template } from "aws-cdk-lib/assertions";
import { bridgeApp } from "../../src/app.ts";
import { type DeploymentDocument, parseDeployment } from "../../src/deployment.ts";
import { pinnedImage } from "../../src/image.ts";

export const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;
export const IMAGE = `111122223333.dkr.ecr.eu-west-1.amazonaws.com/team/bridge@${DIGEST}`;

/** The deployment that the README begins with. */
export const EXAMPLE = JSON.parse(
  readFileSync(new URL("../../deployment.example.json", import.meta.url), "utf8"),
) as DeploymentDocument;

/** Of a resource, what the tests look at. */
interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface Synthesized {
  readonly template: Template;
  readonly json: { readonly Resources: Readonly<Record<string, Resource>>; readonly Outputs: Record<string, unknown> };
  /** The resources of a type. */
  resources(type: string): readonly Resource[];
  /** The properties of the only resource of a type. */
  only(type: string): Readonly<Record<string, unknown>>;
}

export function synthesized(document: Partial<DeploymentDocument> = {}, image: string = IMAGE): Synthesized {
  const { stack } = bridgeApp(parseDeployment({ ...EXAMPLE, ...document }), pinnedImage(image));
  const template = Template.fromStack(stack);
  const json = template.toJSON() as Synthesized["json"];
  const resources = (type: string) => Object.values(json.Resources).filter(({ Type }) => Type === type);
  return {
    template,
    json,
    resources,
    only(type) {
      const [one, ...more] = resources(type);
      if (one === undefined || more.length > 0) throw new Error(`there are ${more.length + 1} of ${type}, or none`);
      return one.Properties;
    },
  };
}
