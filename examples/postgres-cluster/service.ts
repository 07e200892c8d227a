import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Every so many readings is one that the service refuses. */
const REFUSED_EVERY = 20;

/** A web service that takes readings, and counts those that differ. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly taken: number;
  /** Those that it refused and nobody has sent again successfully. */
  readonly refused: number;
  readonly repeated: number;
}

export async function openService(): Promise<Service> {
  const taken = new Set<string>();
  const refused = new Set<string>();
  let repeated = 0;
  const server = createServer((request, response) => {
    const redriven = request.headers["x-bridge.causation-id"] !== undefined;
    request.toArray().then(
      (chunks: Buffer[]) => {
        const reading = Buffer.concat(chunks).toString();
        const takes = redriven || Number(/\d+/.exec(reading)?.[0]) % REFUSED_EVERY !== 0;
        if (takes) {
          if (taken.has(reading)) repeated++;
          taken.add(reading);
          refused.delete(reading);
        } else refused.add(reading);
        response.writeHead(takes ? 201 : 422).end();
      },
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get taken() {
      return taken.size;
    },
    get refused() {
      return refused.size;
    },
    get repeated() {
      return repeated;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
