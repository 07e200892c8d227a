import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A web service that keeps its callers waiting until it is told to answer. */
export class WebService implements AsyncDisposable {
  readonly #server: Server;
  readonly #held: ServerResponse[] = [];
  #arrived = Promise.withResolvers<void>();

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      request.resume();
      this.#held.push(response);
      this.#arrived.resolve();
    });
  }

  static async open(): Promise<WebService> {
    const service = new WebService(createServer());
    service.#server.listen(0, "127.0.0.1");
    await once(service.#server, "listening");
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when a request has come in. */
  get called(): Promise<void> {
    return this.#arrived.promise;
  }

  answer(status: number): void {
    for (const response of this.#held.splice(0)) response.writeHead(status).end();
    this.#arrived = Promise.withResolvers<void>();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
