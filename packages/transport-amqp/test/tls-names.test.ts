import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createServer } from "node:tls";
import { tlsNames } from "@bridge/tooling/tls-names";
import { afterAll, beforeAll, describe } from "vitest";
import { noBroker, PORT } from "./support/broker.ts";
import { never, session } from "./support/parts.ts";

/** TLS in front of the broker that stands ready; one that has it itself is in `test-long`. */
const server = createServer((client: Socket) => {
  const upstream = connect({ port: PORT, host: "127.0.0.1" });
  client.pipe(upstream).pipe(client);
  for (const socket of [client, upstream]) socket.on("error", () => {});
});

describe.skipIf(noBroker)("needs RabbitMQ", () => {
  beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
  afterAll(() => void server.close());

  tlsNames("a session of AMQP", {
    present: async (pair) => {
      server.setSecureContext(pair);
      return (server.address() as AddressInfo).port;
    },
    connect: async ({ host, port, caFile }) => {
      const url = `amqps://${host}:${port}`;
      await using source = session({ options: { url, password: "guest", tls: { ca_file: caFile } } });
      await source.connect(never);
    },
  });
});
