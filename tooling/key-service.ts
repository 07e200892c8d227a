import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A service of AWS that takes requests of some keys and refuses others, as it does those that were revoked; checks no signature. */
export class KeyService implements AsyncDisposable {
  /** The keys of all requests, in their order. */
  readonly signers: string[] = [];
  readonly revoked = new Set<string>();
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** `answer`: to each request that is taken. */
  static async start(answer: object): Promise<KeyService> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const service = new KeyService(server);
    server.on("request", (request, response) => {
      const signer = /Credential=(\w+)\//.exec(request.headers.authorization ?? "")?.[1] ?? "nobody";
      service.signers.push(signer);
      request.resume();
      const isTaken = !service.revoked.has(signer);
      const body = isTaken ? answer : { __type: "UnrecognizedClientException", message: "refused" };
      const type = { "content-type": "application/x-amz-json-1.0" };
      response.writeHead(isTaken ? 200 : 400, type).end(JSON.stringify(body));
    });
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
