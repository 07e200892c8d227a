import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { SSMClient } from "@aws-sdk/client-ssm";
import { NoCredentialsError } from "@bridge/ports/internal";

/** What to do about the refusals that an operator can mend, by the name of the error. */
const REMEDIES: Readonly<Record<string, string>> = {
  ParameterNotFound: "there is no such parameter: create it, or correct the name",
  ParameterVersionNotFound: "the parameter has no such version",
  ResourceNotFoundException: "there is no such secret, or it has no value: create it, or correct the ARN",
  AccessDeniedException: "access is denied: allow this process to read it, and to decrypt it with its KMS key",
  InvalidKeyId: "its KMS key cannot be used: allow this process kms:Decrypt",
  DecryptionFailure: "its KMS key cannot be used: allow this process kms:Decrypt",
  CredentialsProviderError:
    "there are no AWS credentials: give the task a role, or set AWS_ACCESS_KEY_ID and its secret",
  ThrottlingException: "the service is throttling",
  ThrottledException: "the service is throttling",
  TimeoutError: "the service does not answer in time",
  NoRegion:
    "no usable AWS region is configured: set AWS_REGION, or a region in the AWS profile, to one such as eu-central-1",
};

/**
 * Why something could not be read, in a sentence. Made of what kind of error it is and never of its message: that of a
 * parser, say, quotes the answer, and with it the secret.
 */
export function failure(error: unknown, service: string): Error {
  const name = error instanceof Error ? error.name : "unknown error";
  if (isForeign(error)) {
    const { hostname = "", port } = ASKED.get(error) ?? {};
    const status = error.$metadata?.httpStatusCode ?? 200;
    return new Error(
      `the answer of ${hostname}${port === undefined ? "" : `:${port}`} (status ${status}) is none of ${service}, or was cut off: look at what is in between, such as a proxy, and at the endpoint that is configured`,
    );
  }
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  const missing = error instanceof NoCredentialsError ? ` (${error.message})` : "";
  return new Error((REMEDIES[name] ?? `${service} cannot be asked: ${name}${code}`) + missing);
}

interface Foreign extends Error {
  readonly $response?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** What the SDK calls an answer that names no error, as all of the services do. */
const FOREIGN: ReadonlySet<string> = new Set(["SyntaxError", "TypeError", "Unknown"]);

function isForeign(error: unknown): error is Foreign {
  return error instanceof Error && (error as Foreign).$response !== undefined && FOREIGN.has(error.name);
}

interface Asked {
  readonly hostname?: string;
  readonly port?: number;
}

const ASKED = new WeakMap<object, Asked>();

/** Has each error of a request remember where that was sent to, which its own text does not say. */
export function rememberEndpoints({ middlewareStack }: SSMClient | SecretsManagerClient): void {
  // What is added here is the same for all clients, and their types are not.
  (middlewareStack as SSMClient["middlewareStack"]).add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (error instanceof Error) ASKED.set(error, args.request as Asked);
        throw error;
      }
    },
    { step: "finalizeRequest", name: "bridgeEndpoint" },
  );
}
