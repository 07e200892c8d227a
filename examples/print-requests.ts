/**
 * A web service for the examples: prints what it is sent, and answers 204. `node examples/print-requests.ts [port]`
 * @module
 */
import { createServer } from "node:http";
import { argv } from "node:process";
import { text } from "node:stream/consumers";

const port = Number(argv[2] ?? 8190);

const server = createServer((request, response) => {
  void text(request).then((body) => {
    const key = String(request.headers["idempotency-key"] ?? "none");
    console.log(`${request.method} ${request.url} (Idempotency-Key: ${key}) ${body}`);
    response.writeHead(204).end();
  });
});
server.listen(port, "127.0.0.1", () => console.log(`listening on ${JSON.stringify(server.address())}`));
