import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { boundCredentials, orAborted } from "@bridge/ports/internal";
import { failure, rememberEndpoints } from "./failure.ts";
import { placeOf } from "./secret-name.ts";

/** Reads secrets by their names. Nothing is kept: each read is a request. */
export interface SecretReader extends Disposable {
  /**
   * The value of an SSM parameter, decrypted, or of a Secrets Manager secret, if `name` is the ARN of one. Throttling and
   * faults of the service are tried again, with growing and random pauses, at most 5 times and until `signal` aborts.
   * @throws Error with a sentence that says why there is none and never quotes one; the signal's reason
   */
  read(name: string, signal: AbortSignal): Promise<string>;
}

/** The pauses between them are the SDK's own: they grow, and are spread at random. */
const ATTEMPTS = 5;
const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Region, credentials and endpoints are those of the SDK's own configuration: the role of the task, `AWS_REGION`,
 * `AWS_ENDPOINT_URL_SSM` and so on. A secret is read in the region of its ARN.
 */
export function openSecretReader(): SecretReader {
  return new AwsSecretReader();
}

class AwsSecretReader implements SecretReader {
  #parameters: SSMClient | undefined;
  /** By region. */
  readonly #secrets = new Map<string, SecretsManagerClient>();

  async read(name: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const place = placeOf(name);
    const asked = place.kind === "secret" ? this.#secret(name, place.region, signal) : this.#parameter(name, signal);
    let value: unknown;
    try {
      // Looking for credentials does not know the signal: it is left to itself.
      value = await orAborted(asked, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw failure(error, place.kind === "secret" ? "Secrets Manager" : "the Parameter Store");
    }
    // The SDK passes on whatever the answer has there.
    if (typeof value !== "string") throw new Error("it holds no text");
    return value;
  }

  [Symbol.dispose](): void {
    this.#parameters?.destroy();
    for (const client of this.#secrets.values()) client.destroy();
  }

  async #parameter(name: string, abortSignal: AbortSignal): Promise<string | undefined> {
    this.#parameters ??= made(new SSMClient(clientOptions()));
    await requireRegion(this.#parameters);
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    const { Parameter } = await this.#parameters.send(command, { abortSignal });
    return Parameter?.Value;
  }

  async #secret(arn: string, region: string, abortSignal: AbortSignal): Promise<string | undefined> {
    const client = this.#secrets.get(region) ?? made(new SecretsManagerClient({ ...clientOptions(), region }));
    this.#secrets.set(region, client);
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }), { abortSignal });
    return SecretString;
  }
}

function made<Client extends SSMClient | SecretsManagerClient>(client: Client): Client {
  rememberEndpoints(client);
  boundCredentials(client);
  return client;
}

/** The SDK has no name for what it throws without one. */
async function requireRegion({ config }: SSMClient): Promise<void> {
  try {
    await config.region();
  } catch {
    throw Object.assign(new Error("no region"), { name: "NoRegion" });
  }
}

function clientOptions() {
  return {
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  };
}
