import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A web service that refuses what it is told to, and remembers under which id each body came. */
export class Shop implements AsyncDisposable {
  /** Of each body that was accepted, the ids of its messages, one for each time. */
  readonly accepted = new Map<string, string[]>();
  /** Bodies that were refused, in the order in which they came. */
  readonly refused: string[] = [];
  /** Where each request came, in their order. */
  readonly paths: string[] = [];
  connections = 0;
  refuses: (body: string) => boolean = () => false;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async open(): Promise<Shop> {
    const shop = new Shop();
    shop.#server.on("connection", () => shop.connections++);
    shop.#server.listen(0, "127.0.0.1");
    await once(shop.#server, "listening");
    return shop;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests so far. */
  get asked(): number {
    return this.paths.length;
  }

  /** Bodies that were accepted more than once. */
  get repeated(): readonly (readonly string[])[] {
    return [...this.accepted.values()].filter((ids) => ids.length > 1);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    this.paths.push(request.url ?? "");
    const refuses = this.refuses(body);
    if (refuses) this.refused.push(body);
    else this.accepted.set(body, [...(this.accepted.get(body) ?? []), String(request.headers["idempotency-key"])]);
    response.writeHead(refuses ? 503 : 200).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
