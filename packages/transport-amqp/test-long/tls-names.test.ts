import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authority, type Pair } from "@bridge/tooling/certificates";
import { freePort } from "@bridge/tooling/listening";
import { tlsNames } from "@bridge/tooling/tls-names";
import { afterAll, beforeAll } from "vitest";
import { never, session } from "../test/support/parts.ts";
import { OwnBroker } from "./support/own-broker.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-amqps-"));
const at = { cert: join(folder, "broker.crt"), key: join(folder, "broker.key") };
let own: OwnBroker;
let port: number;

function write({ cert, key }: Pair): void {
  writeFileSync(at.cert, cert);
  writeFileSync(at.key, key);
}

beforeAll(async () => {
  port = await freePort();
  write(authority().issue("first"));
  const settings = [
    `listeners.ssl.1 = 127.0.0.1:${port}`,
    `ssl_options.certfile = ${at.cert}`,
    `ssl_options.keyfile = ${at.key}`,
    "ssl_options.verify = verify_none",
  ];
  own = await OwnBroker.start(settings, {});
}, 130_000);
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

tlsNames("a session of AMQP with a RabbitMQ that has TLS itself", {
  present: async (pair) => {
    write(pair);
    // It keeps for minutes what it has read.
    await own.control("eval", "ssl:clear_pem_cache().");
    return port;
  },
  connect: async ({ host, port: there, caFile }) => {
    const url = `amqps://${host}:${there}`;
    await using source = session({ options: { url, password: "guest", tls: { ca_file: caFile } } });
    await source.connect(never);
  },
});
