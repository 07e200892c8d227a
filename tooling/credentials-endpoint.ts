import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { env } from "node:process";

const VARIABLE = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
/** Each comes first where it is set. */
const OTHERS = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"] as const;

/** What gives a container its credentials, as ECS and EKS have it. */
export class CredentialsEndpoint implements AsyncDisposable {
  asked = 0;
  /** While it is, requests are taken and never answered. */
  silent = false;
  readonly #server;
  readonly #before = [VARIABLE, ...OTHERS].map((name) => [name, env[name]] as const);

  private constructor(lifeMs: number) {
    this.#server = createServer((_, response) => {
      this.asked++;
      if (this.silent) return;
      const body = {
        AccessKeyId: `KEY${this.asked}`,
        SecretAccessKey: "secret",
        Token: "token",
        Expiration: new Date(Date.now() + lifeMs).toISOString(),
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  }

  /** Until it is disposed, the SDK in this process finds it, and nothing else. */
  static async start(lifeMs: number): Promise<CredentialsEndpoint> {
    const endpoint = new CredentialsEndpoint(lifeMs);
    endpoint.#server.listen(0, "127.0.0.1");
    await once(endpoint.#server, "listening");
    for (const name of OTHERS) delete env[name];
    env[VARIABLE] = `http://127.0.0.1:${(endpoint.#server.address() as AddressInfo).port}/credentials`;
    return endpoint;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [name, value] of this.#before) {
      if (value === undefined) delete env[name];
      else env[name] = value;
    }
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
