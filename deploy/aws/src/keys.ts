import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { RemovalPolicy } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";

export interface Keys {
  /** Where the key is: name of a parameter or ARN of a secret. */
  readonly admin: string;
  readonly monitor: string;
}

/** The keys of the servers: those that are named, else secrets with a random one. */
export function keysOf(scope: Construct, deployment: Deployment): Keys {
  const made = (server: keyof Keys): string => {
    const secret = new Secret(scope, `${server === "admin" ? "Admin" : "Monitor"}Key`, {
      secretName: `bridge/${deployment.bridge_id}/${server}-api-key`,
      description: `API key of the ${server} server of the bridge ${deployment.bridge_id}`,
      generateSecretString: { passwordLength: 40, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    return secret.secretArn;
  };
  return {
    admin: deployment.admin_api_key_param ?? made("admin"),
    monitor: deployment.monitor_api_key_param ?? made("monitor"),
  };
}
