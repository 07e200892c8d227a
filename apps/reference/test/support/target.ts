import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a target does with what it is sent. */
export type Manner = "accepts" | "refuses" | "hangs" | "rejects a tenth";

/** A web service that remembers the bodies that it has accepted. */
export class Target implements AsyncDisposable {
  readonly accepted: string[] = [];
  /** Those that it will never accept. */
  readonly rejected: string[] = [];
  manner: Manner;
  /** How long it takes for each. */
  pauseMs = 0;
  #asked = 0;
  readonly #server: Server;

  private constructor(manner: Manner) {
    this.manner = manner;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(manner: Manner): Promise<Target> {
    const target = new Target(manner);
    target.#server.listen(0, "127.0.0.1");
    await once(target.#server, "listening");
    return target;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests so far, whatever became of them. */
  get asked(): number {
    return this.#asked;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    this.#asked++;
    if (this.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    while (this.manner === "hangs" && !response.destroyed) await new Promise((resolve) => setTimeout(resolve, 10));
    // Whoever has hung up was told nothing, so nothing counts as accepted.
    if (response.destroyed) return;
    const rejects = this.manner === "rejects a tenth" && this.#asked % 10 === 0;
    if (rejects) this.rejected.push(body);
    else if (this.manner !== "refuses") this.accepted.push(body);
    response.writeHead(rejects ? 422 : this.manner === "refuses" ? 503 : 200).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
