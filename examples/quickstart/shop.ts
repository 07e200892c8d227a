import { once } from "node:events";
import { createServer } from "node:http";

/** Every so many orders is one that the shop refuses. */
const REFUSED_EVERY = 5;

/**
 * A web service that takes orders and refuses some of them as invalid. One that an operator has sent again it takes,
 * as if somebody had put the shop right meanwhile: the bridge tells it so in a header.
 */
export async function openShop(port: number): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    const redriven = request.headers["x-bridge.causation-id"] !== undefined;
    request.toArray().then(
      (chunks: Buffer[]) => {
        const number = Number(/"number":(\d+)/.exec(Buffer.concat(chunks).toString())?.[1]);
        response.writeHead(number % REFUSED_EVERY === 0 && !redriven ? 422 : 201).end();
      },
      () => response.destroy(),
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
