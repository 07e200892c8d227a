import { createServer } from "node:http";
import { once } from "node:events";
import { Pool } from "undici";
import type { OpenSource, OpenTarget } from "./forward.ts";

/** The window is kept by whoever sends: each request waits for its answer. */
export const httpSource: OpenSource = async ({ port, name }, _window, forward) => {
  const server = createServer((request, response) => {
    if (request.method !== "POST" || request.url !== name) {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      forward(Buffer.concat(chunks), (taken) => response.writeHead(taken ? 202 : 503, { "content-length": 0 }).end());
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
};

export const httpTarget: OpenTarget = async ({ port, name }, window) => {
  const target = new Pool(`http://127.0.0.1:${port}`, { connections: window });
  async function post(payload: Buffer, done: (taken: boolean) => void): Promise<void> {
    let taken = false;
    try {
      const { statusCode, body } = await target.request({ path: name, method: "POST", body: payload });
      await body.dump();
      taken = statusCode < 300;
    } catch {
      // It is not taken.
    }
    done(taken);
  }
  return (payload, done) => void post(payload, done);
};
