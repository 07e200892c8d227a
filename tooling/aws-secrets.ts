/**
 * The Parameter Store and Secrets Manager of AWS on a port of loopback, as strict as they are: for tests, as no emulator
 * of them can be installed. Speaks what the SDK speaks; checks no signature. @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Parameter {
  readonly value: string;
  /** Default: `SecureString`, which is given out as ciphertext to whoever does not ask for decryption. */
  readonly type?: "String" | "SecureString" | undefined;
}

/** What it does to a request instead of answering it. */
type Fault =
  | { readonly kind: "error"; readonly status: number; readonly type: string }
  /** An answer whose status says yes, and whose body holds the secret but is cut. */
  | { readonly kind: "torn" }
  /** A page that something in between has made. */
  | { readonly kind: "page"; readonly status: number }
  | { readonly kind: "silence" };

type Body = Readonly<Record<string, unknown>>;

class Refusal extends Error {
  readonly status = 400;
  readonly type: string;

  constructor(type: string) {
    super(type);
    this.type = type;
  }
}

export class AwsSecrets implements AsyncDisposable {
  readonly parameters = new Map<string, Parameter>();
  /** By ARN. `undefined`: it has no text, only bytes. */
  readonly secrets = new Map<string, string | undefined>();
  /** What was asked for, in the order in which it was. */
  readonly asked: string[] = [];
  /** What becomes of the next requests, one after the other. */
  readonly faults: Fault[] = [];
  /** What becomes of every request, while it is set. */
  outage: Fault | undefined;
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<AwsSecrets> {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const service = new AwsSecrets(server);
    server.on("request", (request, response) => void service.#answer(request, response));
    return service;
  }

  /** What makes the SDK of a process come here. */
  get env(): Readonly<Record<string, string>> {
    return {
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_REGION: "eu-central-1",
      AWS_ENDPOINT_URL_SSM: this.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: this.url,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server.close(), "close");
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const fault = this.outage ?? this.faults.shift();
    if (fault?.kind === "silence") return;
    if (fault?.kind === "error")
      return send(response, fault.status, { __type: fault.type, message: "as the test wants" });
    if (fault?.kind === "page") return send(response, fault.status, "<html>Who are you?</html>");
    try {
      const found = JSON.stringify(this.#found(request, Buffer.concat(chunks).toString()));
      send(response, 200, fault?.kind === "torn" ? found.slice(0, -2) : found);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(response, error.status, { __type: error.type, message: error.type });
    }
  }

  #found({ method, headers }: IncomingMessage, text: string): Body {
    if (method !== "POST" || headers["content-type"] !== "application/x-amz-json-1.1")
      throw new Refusal("UnknownOperationException");
    if (headers.authorization?.startsWith("AWS4-HMAC-SHA256 ") !== true)
      throw new Refusal("MissingAuthenticationTokenException");
    const body = JSON.parse(text) as Body;
    const target = headers["x-amz-target"];
    if (target === "AmazonSSM.GetParameter") return this.#parameter(body);
    if (target === "AmazonSSM.PutParameter") return this.#putParameter(body);
    if (target === "secretsmanager.GetSecretValue") return this.#secret(body);
    throw new Refusal("UnknownOperationException");
  }

  #parameter({ Name: name, WithDecryption: decrypted }: Body): Body {
    if (typeof name !== "string") throw new Refusal("ValidationException");
    this.asked.push(name);
    const parameter = this.parameters.get(name);
    if (parameter === undefined) throw new Refusal("ParameterNotFound");
    const { value, type = "SecureString" } = parameter;
    const shown = type === "String" || decrypted === true ? value : Buffer.from(value).toString("base64");
    return { Parameter: { Name: name, Type: type, Value: shown, Version: 1 } };
  }

  #putParameter({ Name: name, Value: value, Type: type = "String", Overwrite: overwrite }: Body): Body {
    if (typeof name !== "string" || typeof value !== "string" || value === "") throw new Refusal("ValidationException");
    if (type !== "String" && type !== "SecureString") throw new Refusal("UnsupportedParameterType");
    if (this.parameters.has(name) && overwrite !== true) throw new Refusal("ParameterAlreadyExists");
    this.parameters.set(name, { value, type });
    return { Tier: "Standard", Version: 1 };
  }

  #secret({ SecretId: arn }: Body): Body {
    if (typeof arn !== "string") throw new Refusal("InvalidParameterException");
    this.asked.push(arn);
    if (!this.secrets.has(arn)) throw new Refusal("ResourceNotFoundException");
    const text = this.secrets.get(arn);
    return { ARN: arn, VersionId: "1", ...(text === undefined ? { SecretBinary: "AAEC" } : { SecretString: text }) };
  }
}

function send(response: ServerResponse, status: number, body: Body | string): void {
  response.writeHead(status, { "Content-Type": "application/x-amz-json-1.1" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
