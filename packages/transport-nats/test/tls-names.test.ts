import { LONG } from "@bridge/tooling/long";
import { writeFileSync } from "node:fs";
import { certificates } from "@bridge/tooling/certificates";
import { TLS_SECRET, tlsNames } from "@bridge/tooling/tls-names";
import { afterAll, afterEach, describe } from "vitest";
import { ownServer } from "./support/own-server.ts";
import { never, session } from "./support/parts.ts";
import { noServer } from "./support/server.ts";

const files = certificates();
afterAll(() => files[Symbol.dispose]());
let running: AsyncDisposable | undefined;
afterEach(() => running?.[Symbol.asyncDispose]());

describe.skipIf(noServer)("needs NATS", () => {
  tlsNames("a session of NATS", {
    // A server is started for each row.
    all: LONG,
    present: async ({ cert, key }) => {
      writeFileSync(files.path("server.crt"), cert);
      writeFileSync(files.path("server.key"), key);
      const server = await ownServer([
        `tls { cert_file: "${files.path("server.crt")}", key_file: "${files.path("server.key")}" }`,
        `authorization { user: bridge, password: ${TLS_SECRET} }`,
      ]);
      running = server;
      return server.port;
    },
    connect: async ({ host, port, caFile }) => {
      const own = { username: "bridge", password: TLS_SECRET };
      await using source = session({
        options: { servers: [`tls://${host}:${port}`], ...own, tls: { ca_file: caFile } },
      });
      await source.connect(never);
    },
  });
});
