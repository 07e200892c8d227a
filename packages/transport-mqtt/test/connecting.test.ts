import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tcpProxy } from "@bridge/conformance";
import { authority, type Certificates, certificates, type Pair } from "@bridge/tooling/certificates";
import type { Packet } from "mqtt-packet";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { noMosquitto } from "./support/brokers.ts";
import { mosquitto, type MosquittoOptions } from "./support/mosquitto.ts";
import {
  accept,
  connected,
  envelope,
  freshTopic,
  like,
  type LogLine,
  Puller,
  receiver,
  sender,
  session,
  type SessionSetup,
  text,
  until,
} from "./support/parts.ts";
import { message, scriptedBroker } from "./support/scripted-broker.ts";
import { program, witness } from "./support/witness.ts";

const never = new AbortController().signal;

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

function build(setup: SessionSetup) {
  return stack.use(session(setup));
}

async function broker(options: MosquittoOptions = {}) {
  return stack.use(await mosquitto(options));
}

/** A port where nobody listens. */
async function closedPort(): Promise<number> {
  const proxy = await tcpProxy({ target: { port: 1 } });
  stack.use(proxy);
  proxy.refuse();
  return proxy.port;
}

describe.skipIf(noMosquitto)("credentials (needs Mosquitto)", () => {
  /** A broker that knows one user. */
  async function guarded() {
    const dir = await mkdtemp(join(tmpdir(), "bridge-users-"));
    stack.defer(() => rm(dir, { recursive: true, force: true }));
    const users = join(dir, "users");
    execFileSync("mosquitto_passwd", ["-c", "-b", users, "bridge", "right-password"], { stdio: "ignore" });
    return broker({ anonymous: false, files: { users: await readFile(users) }, config: ["password_file DIR/users"] });
  }

  test.each([5, 4])(
    "that are wrong are refused as NOT_AUTHORIZED, naming the broker and no password (version %i)",
    async (protocol_version) => {
      const { port } = await guarded();
      const options = { protocol_version, username: "bridge", password: "wrong-password" };
      const attempt = build({ port, options }).connect(never);
      await expect(attempt).rejects.toMatchObject({
        code: "NOT_AUTHORIZED",
        message: like(new RegExp(`^mqtt://127.0.0.1:${port}: the broker refused the connection: `)),
      });
      await attempt.catch((error: Error) => expect(error.message).not.toContain("wrong-password"));
    },
  );

  test("that are right open the connection", async () => {
    const { port } = await guarded();
    const options = { username: "bridge", password: "right-password" };
    await expect(build({ port, options }).connect(never)).resolves.toBeDefined();
  });
});

describe.skipIf(noMosquitto)("TLS (needs Mosquitto)", () => {
  let made: Certificates;
  beforeAll(() => {
    made = certificates("broker", "client");
    return () => made[Symbol.dispose]();
  });

  function secured(...more: readonly string[]) {
    return broker({
      files: made.files,
      listener: ["cafile DIR/ca.crt", "certfile DIR/broker.crt", "keyfile DIR/broker.key", ...more],
    });
  }

  function urls(port: number, host = "localhost") {
    return { broker_urls: [`mqtts://${host}:${port}`] };
  }

  test("a broker is trusted whose authority is named", async () => {
    const { port } = await secured();
    const topic = freshTopic();
    const options = { ...urls(port), tls: { ca_file: join(made.dir, "ca.crt") } };
    const source = build({ port, options });
    const puller = new Puller(receiver(source, [topic]), never);
    await connected(source, never);
    const target = build({ port, role: "target", options });
    await connected(target, never);
    await sender(target).send(envelope({ payload: Buffer.from("secret") }), topic, never);
    expect(text(await puller.next())).toBe("secret");
  });

  test("a broker is not trusted otherwise, unless that is switched off", async () => {
    const { port } = await secured();
    const doubtful = build({ port, options: urls(port) });
    await expect(doubtful.connect(never)).rejects.toMatchObject({
      code: "CONNECTION_LOST",
      message: like(/of an authority that is not trusted: name that in tls\.ca_file/),
    });
    const careless = build({ port, options: { ...urls(port), tls: { reject_unauthorized: false } } });
    await (await careless.connect(never))[Symbol.asyncDispose]();
  });

  test("a key that is none is named, with its option", async () => {
    const not_a_key = join(made.dir, "ca.crt");
    const options = { ...urls(1), tls: { cert_file: not_a_key, key_file: not_a_key } };
    await expect(build({ port: 1, options }).connect(never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: like(/tls\.key_file ".*ca\.crt" holds no private key in PEM form/),
    });
  });

  const OWN: readonly (readonly [name: string, issue: () => Pair | undefined, why: RegExp])[] = [
    ["none", () => undefined, /it asks for a certificate of the bridge: set tls\.cert_file/],
    ["one of another authority", () => authority("others").issue("client"), /\(unknown ca\): name one of an authority/],
    [
      "one that has expired",
      () => made.authority.issue("client", [], { fromHours: -9, toHours: -8 }),
      /\(certificate expired\): renew that in tls\.cert_file/,
    ],
  ];

  test.for(OWN)(
    "a broker that asks for a certificate of the bridge refuses %s, and says why",
    async ([name, issue, why]) => {
      const { port } = await secured("require_certificate true");
      const tls: Record<string, string> = { ca_file: join(made.dir, "ca.crt") };
      for (const [part, content] of Object.entries(issue() ?? {})) {
        const file = made.path(`${name}.${part}`);
        await writeFile(file, content);
        tls[`${part}_file`] = file;
      }
      await expect(build({ port, options: { ...urls(port), tls } }).connect(never)).rejects.toMatchObject({
        class: "transient",
        // The alert may be overtaken by the end of the connection.
        message: like(new RegExp(`${why.source}|reset|closed`)),
      });
    },
  );

  test("the bridge proves who it is where that is asked for", async () => {
    const { port } = await secured("require_certificate true");
    const own = { cert_file: made.path("client.crt"), key_file: made.path("client.key") };
    const known = build({ port, options: { ...urls(port), tls: { ca_file: made.path("ca.crt"), ...own } } });
    const connection = await known.connect(never);
    await connection[Symbol.asyncDispose]();
    expect(await connection.closed).toBeUndefined();
  });
});

describe("several brokers", () => {
  test("are tried in turn, and the one that answered comes first next time", async () => {
    const [first, second] = [stack.use(await scriptedBroker()), stack.use(await scriptedBroker())];
    const dead = await closedPort();
    const broker_urls = [dead, first.port, second.port].map((port) => `mqtt://127.0.0.1:${port}`);
    const source = build({ port: 1, options: { broker_urls } });
    await connected(source, never);
    first.client.end();
    await connected(source, never);
    expect([first, second].map(({ received }) => received.filter(({ cmd }) => cmd === "connect").length)).toEqual([
      2, 0,
    ]);
  });

  test("are all named when none answers", async () => {
    const ports = [await closedPort(), await closedPort()];
    const source = build({ port: 1, options: { broker_urls: ports.map((port) => `mqtt://127.0.0.1:${port}`) } });
    await expect(source.connect(never)).rejects.toMatchObject({
      code: "CONNECTION_LOST",
      message: ports.map((port) => `mqtt://127.0.0.1:${port}: connection refused: nothing listens there`).join("; "),
    });
  });

  test("one that takes the connection and stays silent is not the first of the next attempt", async () => {
    const silent = stack.use(await scriptedBroker({ script: ({ cmd }) => cmd === "connect" }));
    const working = stack.use(await scriptedBroker());
    const broker_urls = [silent.port, working.port].map((port) => `mqtt://127.0.0.1:${port}`);
    const source = build({ port: 1, options: { broker_urls, connect_timeout: "200ms" } });
    await expect(source.connect(never)).rejects.toMatchObject({ code: "TIMEOUT" });
    await connected(source, never);
    expect(working.received.map(({ cmd }) => cmd)).toContain("connect");
  });
});

describe("a connection that the broker ends", () => {
  test.each([
    [0x8b, "UNAVAILABLE", /server shutting down/],
    [0x8e, "CONNECTION_LOST", /another client connected with the same client_id/],
    [0x97, "THROTTLED", /quota exceeded/],
  ])("says why (0x%s)", async (reasonCode, code, words) => {
    const made = stack.use(await scriptedBroker());
    const connection = await build({ port: made.port }).connect(never);
    made.client.send({ cmd: "disconnect", reasonCode });
    made.client.end();
    await expect(connection.closed).resolves.toMatchObject({ code, message: like(words) });
  });

  test("because it cannot be understood is dropped by us", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write(Buffer.of(0x20, 0x03, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff)));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(() => void server.close());
    const address = server.address();
    const attempt = build({ port: (address as { port: number }).port }).connect(never);
    const ended = attempt.then(
      ({ closed }) => closed,
      (error: unknown) => error,
    );
    expect(await ended).toMatchObject({ code: "CONNECTION_LOST" });
  });
});

const warnings = (log: readonly LogLine[]): readonly LogLine[] => log.filter(({ level }) => level === "warn");

describe("subscriptions", () => {
  test("that the broker refuses are left out, named in the log, and asked for again", async () => {
    const log: LogLine[] = [];
    let refuse = true;
    const made = stack.use(
      await scriptedBroker({
        script(packet, client) {
          if (packet.cmd !== "subscribe" || !refuse) return undefined;
          const granted = packet.subscriptions.map(({ topic, qos }) => (topic === "denied" ? 0x87 : qos));
          client.send({ cmd: "suback", messageId: packet.messageId!, granted });
          return true;
        },
      }),
    );
    const source = build({ port: made.port, log });
    receiver(source, ["granted", "denied"]);
    const connection = await source.connect(never);
    expect(await connection.reconcile(never)).toEqual(new Set(["granted"]));
    expect(warnings(log)).toEqual([
      {
        level: "warn",
        message: "subscription not granted",
        fields: { filter: "denied", error: "refused by the broker: not authorized (0x87)" },
      },
    ]);
    refuse = false;
    expect(await connection.reconcile(never)).toEqual(new Set(["granted", "denied"]));
    const asked = made.received.flatMap((packet) =>
      packet.cmd === "subscribe" ? [packet.subscriptions.map(({ topic }) => topic)] : [],
    );
    expect(asked).toEqual([["granted", "denied"], ["denied"]]);
  });

  test("that are granted at QoS 0 only are worth a warning", async () => {
    const log: LogLine[] = [];
    const made = stack.use(
      await scriptedBroker({
        script(packet, client) {
          if (packet.cmd !== "subscribe") return undefined;
          client.send({ cmd: "suback", messageId: packet.messageId!, granted: [0] });
          return true;
        },
      }),
    );
    const source = build({ port: made.port, log });
    receiver(source, ["t"]);
    const connection = await source.connect(never);
    expect(await connection.reconcile(never)).toEqual(new Set(["t"]));
    expect(warnings(log)).toEqual([expect.objectContaining({ level: "warn", fields: { filter: "t" } })]);
  });

  test("whose answer stands behind a backlog that nobody takes count as acknowledged, unless they were refused", async () => {
    const backlog = 300;
    let answer: Packet | undefined;
    const made = stack.use(
      await scriptedBroker({
        script(packet, client) {
          if (packet.cmd !== "subscribe") return undefined;
          if (answer !== undefined) return true;
          for (let messageId = 1; messageId <= backlog; messageId++) client.send(message("wanted", messageId));
          const granted = packet.subscriptions.map(({ topic }) => (topic === "wanted" ? 1 : 0x87));
          answer = { cmd: "suback", messageId: packet.messageId!, granted };
          client.send(answer);
          return true;
        },
      }),
    );
    const log: LogLine[] = [];
    const source = build({ port: made.port, log, window: backlog });
    const puller = new Puller(receiver(source, ["wanted", "denied"]), never);
    const connection = await source.connect(never);
    expect(await connection.reconcile(never)).toEqual(new Set(["wanted", "denied"]));
    expect(source.counters?.()).toMatchObject({ waiting: 100, pauses: 1 });

    // Once the backlog is taken, the answer is seen, and what it refuses is not taken for granted again.
    for (const delivery of await puller.take(backlog)) await accept(delivery);
    await until(() => warnings(log).length > 0);
    expect(warnings(log)).toEqual([expect.objectContaining({ message: "subscription not granted" })]);
    for (let messageId = 1; messageId <= backlog; messageId++) made.client.send(message("wanted", messageId));
    await until(() => source.counters?.()["pauses"] === 2);
    expect(await connection.reconcile(never)).toEqual(new Set(["wanted"]));
  });

  test("that the broker does not answer time out", async () => {
    const made = stack.use(await scriptedBroker({ script: (packet) => packet.cmd === "subscribe" }));
    const source = build({ port: made.port, options: { connect_timeout: "100ms" } });
    receiver(source, ["t"]);
    const connection = await source.connect(never);
    await expect(connection.reconcile(never)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("are asked for in packets that every broker takes, with identifiers only where copies have to be told apart", async () => {
    const made = stack.use(await scriptedBroker());
    const plain = build({ port: made.port });
    receiver(
      plain,
      Array.from({ length: 20 }, (_, i) => `t/${i}`),
    );
    await connected(plain, never);
    const packets = () => made.received.flatMap((packet) => (packet.cmd === "subscribe" ? [packet] : []));
    expect(packets().map(({ subscriptions }) => subscriptions.length)).toEqual([8, 8, 4]);
    expect(packets().map(({ properties }) => properties?.subscriptionIdentifier)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);

    const ambiguous = build({ port: made.port });
    receiver(ambiguous, ["a/#"], "one");
    receiver(ambiguous, ["a/b"], "other");
    await connected(ambiguous, never);
    const identifiers = packets()
      .slice(3)
      .map(({ properties }) => properties?.subscriptionIdentifier);
    expect(identifiers).toEqual([expect.any(Number), expect.any(Number)]);
    expect(new Set(identifiers).size).toBe(2);
  });
});

describe("a session that the broker has not kept", () => {
  test("is worth a warning, as is one that it keeps for less than it is asked to", async () => {
    const log: LogLine[] = [];
    const made = stack.use(await scriptedBroker({ connack: { properties: { sessionExpiryInterval: 60 } } }));
    const source = build({ port: made.port, log });
    await connected(source, never);
    expect(warnings(log).map(({ fields }) => fields)).toEqual([{ granted_seconds: 60 }]);
    made.client.end();
    await connected(source, never);
    expect(warnings(log)[1]).toMatchObject({ level: "warn", message: like(/has not kept the session/) });
  });

  test("when the bridge starts is told of, because it may have been there before and be over", async () => {
    const log: LogLine[] = [];
    const made = stack.use(await scriptedBroker());
    await connected(build({ port: made.port, log, options: { client_id: "c" } }), never);
    expect(log).toEqual([
      {
        level: "info",
        message: "the broker has no session of this client yet: what was published before is not in it",
        fields: { client_id: "c" },
      },
    ]);
  });

  test("says nothing when the broker has kept it, and nothing in an ephemeral session", async () => {
    const log: LogLine[] = [];
    const kept = stack.use(await scriptedBroker({ connack: { sessionPresent: true } }));
    await connected(build({ port: kept.port, log }), never);
    const other = stack.use(await scriptedBroker());
    await connected(build({ port: other.port, log, mode: "ephemeral" }), never);
    expect(log).toEqual([]);
  });
});

describe.skipIf(noMosquitto)("the will (needs Mosquitto)", () => {
  test("is published when the connection is lost, and not when it is closed", async () => {
    const { port } = await broker();
    const topic = freshTopic();
    const proxy = stack.use(await tcpProxy({ target: { port } }));
    const seen = stack.use(await witness({ port, filter: topic }));
    const will = { topic, payload: "gone", qos: 1, retain: false };
    const source = build({ port: proxy.port, options: { will } });
    const first = await connected(source, never);
    await first[Symbol.asyncDispose]();
    await connected(source, never);
    proxy.reset();
    await seen.until(1);
    const client = await program(port);
    await client.publishAsync(topic, "end", { qos: 1 });
    await client.endAsync();
    expect((await seen.until(2)).map(({ payload }) => payload.toString())).toEqual(["gone", "end"]);
  });
});

describe.skipIf(noMosquitto)("a broker that is restarted (needs Mosquitto)", () => {
  test("hands out again what was not settled, and what came meanwhile", async () => {
    const made = await broker();
    const topic = freshTopic();
    const source = build({ port: made.port, options: { client_id: topic } });
    const puller = new Puller(receiver(source, [topic]), never);
    const connection = await connected(source, never);
    const client = await program(made.port);
    for (const payload of ["a", "b", "c"]) await client.publishAsync(topic, payload, { qos: 1 });
    const [, second] = await puller.take(3);
    accept(second!).catch(() => {});
    client.end(true);
    await made.stop();
    await expect(connection.closed).resolves.toMatchObject({ class: "transient" });
    await made.start();
    await connected(source, never);
    expect((await puller.take(3)).map(text)).toEqual(["a", "b", "c"]);
  });
});
