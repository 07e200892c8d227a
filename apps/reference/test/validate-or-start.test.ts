import { rows } from "@bridge/tooling/long";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Folder, HTTP } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());
const at = (name: string): string => join(folder.path, name);
mkdirSync(at("folder"));
symlinkSync(at("b"), at("a"));
symlinkSync(at("a"), at("b"));
folder.write("file", "");
folder.write("there.pem", "");
const MISSING = "none.pem";
const LONG = "x".repeat(256);

const INSIDE = {
  receivers: "[{id: in, transport: memory, options: {channel: in}}]",
  senders: "[{id: out, transport: memory, options: {channel: out}}]",
  bindings: "[{id: to-out, sender_id: out}]",
};

/** A document of lines, so that each key is on its own. */
function document(changes: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...INSIDE, ...changes }).map(([key, value]) => `${key}: ${value}\n`);
  const route =
    "routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]\n";
  return `${HTTP}bridge: {id: test}\n${lines.join("")}${route}`;
}

const store = (path: string): string => `{dlq: {type: file, options: {path: "${path}"}}}`;
const outbox = (path: string): string => `{outbox: {type: file, options: {path: "${path}"}}}`;

/** A route from one session to inside, and what else is changed. */
const on = (transport: string, options: string, receiver: string, more: Readonly<Record<string, string>> = {}) => ({
  sessions: `[{id: s, transport: ${transport}, options: {${options}}}]`,
  receivers: `[{id: in, session_id: s, ${receiver}}]`,
  ...more,
});
const to = (transport: string, options: string, address: string, sender = "") => ({
  sessions: `[{id: s, transport: ${transport}, options: {${options}}}]`,
  senders: `[{id: out, session_id: s${sender}}]`,
  bindings: `[{id: to-out, sender_id: out, address: "${address}"}]`,
});
const MQTT = 'broker_urls: ["mqtt://127.0.0.1:9"]';
const AMQP = "url: amqp://127.0.0.1:9";
const NATS = 'servers: ["nats://127.0.0.1:9"]';
const TOPIC = "topics: [{topic: a}]";

const REFUSED: readonly (readonly [name: string, changes: Readonly<Record<string, string>>, said: RegExp])[] = [
  [
    "a DLQ that is a folder",
    { stores: store("folder") },
    /stores\.dlq\.options\.path: "folder" is a folder: name a file/,
  ],
  ["an outbox that is a folder", { stores: outbox("folder") }, /stores\.outbox\.options\.path: "folder" is a folder/],
  [
    "a store below a file",
    { stores: store("file/x/dlq.db") },
    /path: "file\/x\/dlq\.db" lies below ".*file", which is no folder: name/,
  ],
  [
    "a store of the kernel's",
    { stores: store("/proc/x/y") },
    /path: "\/proc\/x\/y" lies in "\/proc", where nothing can be kept/,
  ],
  ["a store in a circle of links", { stores: store("a") }, /path: "a" is a link that leads in a circle/],
  ["a store on a device", { stores: store("/dev/full") }, /path: "\/dev\/full" is no regular file/],
  ["a store with a long name", { stores: store(LONG) }, /path: "x+…?" has a longer name than this file system takes/],
  ["a store whose log has a long name", { stores: store("x".repeat(250)) }, /path: "x+…?" has a longer name/],
  [
    "an audit file below a file",
    { audit: "{file: {path: file/audit.jsonl}}" },
    /audit\.file\.path: "file\/audit\.jsonl" lies below/,
  ],
  [
    "a schema that is not there",
    { processors: "[{id: p, type: schema, options: {file: none.json}}]" },
    /processors\[0\]\.options\.file: "none\.json" is not there/,
  ],
  [
    "TLS files of a receiver",
    {
      receivers: `[{id: in, transport: http, options: {addr: "127.0.0.1:0", tls: {cert_file: there.pem, key_file: ${MISSING}}}}]`,
    },
    /tls\.key_file: "none\.pem" is not there: name a file that/,
  ],
  [
    "TLS files of a sender",
    { senders: `[{id: out, transport: http, options: {url: "https://h", tls: {ca_file: folder}}}]` },
    /tls\.ca_file: "folder" is no file/,
  ],
  [
    "an authority of MQTT",
    on("mqtt", `broker_urls: ["mqtts://h"], tls: {ca_file: ${MISSING}}`, TOPIC),
    /sessions\[0\]\.options\.tls\.ca_file: "none\.pem" is not there/,
  ],
  [
    "a certificate of AMQP without its key",
    on("amqp", "url: amqps://h, tls: {cert_file: there.pem}", "options: {queue: q}"),
    /tls\.cert_file: goes with key_file/,
  ],
  [
    "a certificate of NATS that is a folder",
    on("nats", 'servers: ["tls://h"], tls: {cert_file: folder, key_file: there.pem}', "options: {stream: S}"),
    /tls\.cert_file: "folder" is no file/,
  ],
  [
    "TLS of MQTT without it in the address",
    on("mqtt", `${MQTT}, tls: {}`, TOPIC),
    /options\.tls: has no effect.*mqtts/,
  ],
  [
    "TLS of AMQP without it in the address",
    on("amqp", `${AMQP}, tls: {}`, "options: {queue: q}"),
    /options\.tls: has no effect.*amqps/,
  ],
  [
    "TLS of NATS without it in the address",
    on("nats", `${NATS}, tls: {}`, "options: {stream: S}"),
    /options\.tls: has no effect.*tls:/,
  ],
  [
    "a queue with a long name",
    on("amqp", AMQP, `options: {queue: ${LONG}}`),
    /options\.queue: the name of a queue has at most 255 bytes/,
  ],
  ["a queue with a name of many bytes", on("amqp", AMQP, `options: {queue: ${"é".repeat(128)}}`), /at most 255 bytes/],
  [
    "an exchange with a long name",
    to("amqp", AMQP, "k", `, options: {exchange: ${LONG}}`),
    /options\.exchange: at most 255 bytes/,
  ],
  ["a long routing key", to("amqp", AMQP, LONG), /bindings\[0\]\.address: .* is longer than 255 bytes/],
  [
    "a virtual host with a long name",
    on("amqp", `url: amqp://h/${LONG}`, "options: {queue: q}"),
    /virtual host has at most 255 bytes/,
  ],
  ["a long topic to send to", to("mqtt", MQTT, "x".repeat(65_536)), /address: .* is longer than 65535 bytes/],
  [
    "a long topic to listen to",
    on("mqtt", MQTT, `topics: [{topic: ${"x".repeat(65_536)}}]`),
    /topic: .* is longer than 65535 bytes/,
  ],
  [
    "a long client id",
    on("mqtt", `${MQTT}, client_id: ${"x".repeat(1_025)}`, TOPIC),
    /client_id: at most 1024 characters/,
  ],
  [
    "a long user of MQTT",
    on("mqtt", `${MQTT}, username: ${"x".repeat(65_536)}`, TOPIC),
    /username: at most 65535 bytes/,
  ],
  ["a stream with a long name", on("nats", NATS, `options: {stream: ${LONG}}`), /options\.stream: at most 255 bytes/],
  [
    "a consumer with a name of many bytes",
    on("nats", NATS, `options: {stream: S, consumer: ${"é".repeat(128)}}`),
    /options\.consumer: at most 255 bytes/,
  ],
  ["a long subject", to("nats", NATS, "x".repeat(3_073)), /address: .* is longer than 3072 bytes/],
];

const STARTS: readonly (readonly [name: string, changes: Readonly<Record<string, string>>])[] = [
  ["a store in folders that are made", { stores: store("new/er/dlq.db") }],
  ["a store with the longest name", { stores: store("x".repeat(243)) }],
  ["a queue with the longest name", on("amqp", AMQP, `options: {queue: ${"x".repeat(255)}}`)],
  ["a consumer with the longest name", on("nats", NATS, `options: {stream: S, consumer: ${"x".repeat(255)}}`)],
  ["the longest client id", on("mqtt", `${MQTT}, client_id: ${"x".repeat(1_024)}`, TOPIC)],
];

// A process for each row; who refuses it has tests of its own in its package.
describe("finding 4.3: what the start would refuse -validate refuses, and the rest starts", () => {
  test.each(rows(REFUSED, (_, row) => row % 4 === 0))(
    "%s is refused with line and field",
    async (name, changes, said) => {
      const file = folder.write(`${name.replaceAll(" ", "-")}.yaml`, document(changes));
      await using bridge = folder.run(["-validate", "-config", file]);
      expect(await bridge.ended).toBe(1);
      expect(bridge.stderr).toMatch(said);
      expect(bridge.stderr.split("\n").find((line) => said.test(line))).toMatch(/\.yaml:\d+:\d+:? \w/);
    },
  );

  test.each(rows(STARTS, (_, row) => row < 2))("%s is valid, and starts", async (name, changes) => {
    const file = folder.write(`${name.replaceAll(" ", "-")}.yaml`, document(changes));
    await using checked = folder.run(["-validate", "-config", file]);
    expect([await checked.ended, checked.stderr]).toEqual([0, expect.not.stringContaining(file) as string]);
    await using bridge = folder.run(["-config", file]);
    expect(await bridge.logged("bridge started")).toMatchObject({ level: "info" });
  });
});
