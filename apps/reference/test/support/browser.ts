import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { env } from "node:process";
import { once } from "node:events";
import { chromium, type Browser } from "playwright-core";
import { PATIENCE } from "@bridge/tooling/patience";

const CHROMIUM = env["BRIDGE_TEST_CHROMIUM"] ?? "/usr/bin/chromium";

/** Without a browser what needs one is skipped and counted, unless BRIDGE_REQUIRE_BROWSER=1 makes that a failure. */
export const noBrowser: boolean = env["BRIDGE_REQUIRE_BROWSER"] !== "1" && !existsSync(CHROMIUM);

/** A Chromium to which every name that ends in `.test` is this machine. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    timeout: PATIENCE.timeout,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.test 127.0.0.1"],
  });
}

/** A web server with an empty page at every path: where the pages of somebody else are from. */
export class EmptyPages implements AsyncDisposable {
  readonly #server: Server;
  readonly port: number;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(): Promise<EmptyPages> {
    const server = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html").end("<!doctype html><title>a page</title>");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new EmptyPages(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
