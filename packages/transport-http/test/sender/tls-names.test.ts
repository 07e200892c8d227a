import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { TLS_SECRET, tlsNames } from "@bridge/tooling/tls-names";
import { afterAll, beforeAll } from "vitest";
import { buildSender, envelope, never } from "../support/open-sender.ts";

const server = createServer((_, answer) => void answer.writeHead(202).end());
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

tlsNames("an HTTP sender", {
  present: async (pair) => {
    server.setSecureContext(pair);
    return (server.address() as AddressInfo).port;
  },
  connect: async ({ host, port, caFile }) => {
    const url = `https://${host}:${port}`;
    await using sender = await buildSender({ url, bearer: TLS_SECRET, tls: { ca_file: caFile } });
    await sender.send(envelope(), "", never());
  },
});
