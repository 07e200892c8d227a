import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Call {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A web service that remembers its calls and answers as it is told, 204 at first. */
export interface WebService extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly Call[];
  /** What it answers; decided for each call anew. */
  answer: (call: Call) => number;
  /** Whether it cuts every connection, so that nobody gets as far as a call. */
  away: boolean;
}

export async function openWebService(): Promise<WebService> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    // A bridge of another test may still look for the emulator of AWS that had this port before.
    if (request.headers["x-amz-target"] !== undefined) return void response.writeHead(404).end();
    void text(request).then((body) => {
      const call = { path: request.url ?? "", headers: request.headers, body };
      calls.push(call);
      response.writeHead(service.answer(call)).end();
    });
  });
  server.on("connection", (socket) => {
    if (service.away) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const service: WebService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answer: () => 204,
    away: false,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return service;
}
