import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TargetRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A web server that keeps what it was sent. */
export interface TargetServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly TargetRequest[];
  /** Connections that have been opened, in all. */
  readonly connections: number;
  /** Resolves with the `count`-th request. */
  request(count: number): Promise<TargetRequest>;
}

export type TargetAnswer = (outgoing: ServerResponse, request: TargetRequest, incoming: IncomingMessage) => void;

/** `answer` defaults to 202 without a body. */
export async function targetServer(
  answer: TargetAnswer = (outgoing) => outgoing.writeHead(202).end(),
): Promise<TargetServer> {
  const requests: TargetRequest[] = [];
  const waiting = new Set<() => void>();
  let connections = 0;
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url = "", headers, rawHeaders } = incoming;
      const request = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) };
      requests.push(request);
      for (const wake of waiting) wake();
      answer(outgoing, request, incoming);
    });
  });
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    async request(count) {
      while (requests.length < count) {
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
      return requests[count - 1]!;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close").catch(() => {});
    },
  };
}
