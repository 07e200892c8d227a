import type { ReferenceReaders } from "@bridge/config";
import { isSecretArn, type SecretReader } from "@bridge/secrets-aws";

/** What a configuration may refer to besides the environment and files: `${ssm:NAME}` and `${secret:ARN}`. */
export function awsReferences(secrets: SecretReader): ReferenceReaders {
  return {
    ssm: async (name, signal) => {
      if (isSecretArn(name)) throw new Error("it is the ARN of a secret: refer to it as ${secret:…}");
      return secrets.read(name, signal);
    },
    secret: async (arn, signal) => {
      if (!isSecretArn(arn)) throw new Error("it is not the ARN of a Secrets Manager secret");
      return secrets.read(arn, signal);
    },
  };
}
