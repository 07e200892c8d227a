import { PATIENCE } from "@bridge/tooling/patience";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkDocument, createRegistry, formatProblem, type UsualServers } from "@bridge/config";
import { filePlace } from "@bridge/ports";
import { plugins } from "../src/compose.ts";
import { Folder } from "./support/folder.ts";

const folder = new Folder();
const at = (name: string): string => join(folder.path, name);
beforeAll(() => {
  mkdirSync(at("real"));
  symlinkSync(at("real"), at("linked"));
  symlinkSync("missing.db", at("leads-to-missing.db"));
  symlinkSync("missing", at("leads-to-missing"));
  symlinkSync("circle/circle", at("circle"));
});
afterAll(() => folder[Symbol.dispose]());

const route = (id: string, receiver: string): object => ({
  id,
  receiver_id: receiver,
  bindings: ["to-out"],
  policy: { on_permanent_failure: "drop", on_expired: "drop" },
});

const base = (changes: object): object => ({
  bridge: { id: "test" },
  senders: [{ id: "out", transport: "http", options: { url: "http://127.0.0.1:9" } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  ...changes,
});

/** Two receivers of HTTP, with these options. */
const web = (first: object, second: object): object =>
  base({
    receivers: [
      { id: "a", transport: "http", options: { allow_anonymous: true, ...first } },
      { id: "b", transport: "http", options: { allow_anonymous: true, ...second } },
    ],
    routes: [route("a", "a"), route("b", "b")],
  });

/** Two sessions of MQTT that each a receiver and a binding use. */
const mqtt = (first: object, second: object): object => ({
  bridge: { id: "test" },
  sessions: [
    { id: "s", transport: "mqtt", options: { broker_urls: ["mqtt://localhost"], ...first } },
    { id: "t", transport: "mqtt", options: { broker_urls: ["mqtt://127.0.0.1:1883"], ...second } },
  ],
  receivers: [{ id: "a", session_id: "s", topics: [{ topic: "a", qos: 1 }] }],
  senders: [{ id: "out", session_id: "t" }],
  bindings: [{ id: "to-out", sender_id: "out", address: "b" }],
  routes: [route("a", "a")],
});

const files = (dlq: string, outbox: string, audit = at("audit.jsonl")): object =>
  base({
    stores: { dlq: { type: "file", options: { path: dlq } }, outbox: { type: "file", options: { path: outbox } } },
    audit: { file: { path: audit } },
  });

const tls = { cert_file: "c.pem", key_file: "k.pem" };

/** Two receivers, each on a session of its own at one broker. */
function pair(transport: string, session: object, options: object) {
  return (first: object, second: object): object =>
    base({
      sessions: ["s", "t"].map((id) => ({ id, transport, options: session })),
      receivers: [
        { id: "a", session_id: "s", options: { ...options, ...first } },
        { id: "b", session_id: "t", options: { ...options, ...second } },
      ],
      routes: [route("a", "a"), route("b", "b")],
    });
}

/** Of a document that lies in `bridge.json`. */
async function problemsOf(given: object, servers?: UsualServers): Promise<readonly string[]> {
  folder.write("bridge.json", "{}");
  const file = (): Promise<string> => Promise.reject(new Error("it is not there"));
  const document = filePlace(at("bridge.json"));
  const isOwnPlace = (place: string): boolean => place === document;
  const sources = { env: () => undefined, file, isOwnPlace, servers };
  const checked = await checkDocument(given, createRegistry(plugins()), sources, AbortSignal.timeout(PATIENCE.timeout));
  return checked.ok ? [] : checked.problems.map(formatProblem);
}

describe("parts that cannot be beside each other are refused before anything is opened", () => {
  test.each([
    ["one address and path", web({ path: "/in" }, { path: "/in" }), /^receivers\[1\]\.options: .*has this path/],
    [
      "one address, in other letters",
      web({ addr: "Localhost:81", path: "/x" }, { addr: "localhost:81", path: "/x" }),
      /path/,
    ],
    ["other tls", web({ tls }, {}), /other tls options/],
    [
      "a name and its number",
      web({ addr: "localhost:8082" }, { addr: "127.0.0.1:8082" }),
      /write both addresses alike/,
    ],
    ["every interface and one of them", web({ addr: "0.0.0.0:8082" }, { addr: "127.0.0.1:8082" }), /alike/],
    ["every interface, written shorter", web({ addr: ":8082" }, { addr: "[::1]:8082" }), /alike/],
    [
      "a server and a receiver",
      { ...web({}, { addr: "127.0.0.1:8083" }), http: { admin_addr: "127.0.0.1:8082", monitor_addr: ":8081" } },
      /^receivers\[0\]\.options: http\.admin_addr listens/,
    ],
    ["both servers", base({ http: { admin_addr: ":8080", monitor_addr: "127.0.0.1:8080" } }), /^http\.monitor_addr: /],
    ["two stores in a file", files(at("one.db"), at("one.db")), /^stores\.outbox\.options: .*stores\.dlq/],
    ["a store in the log of another", files(at("one.db-wal"), at("one.db")), /^stores\.outbox\.options: .*stores\.dlq/],
    ["a store whose log another is", files(at("one.db"), at("one.db-mark")), /^stores\.outbox\.options: .*stores\.dlq/],
    ["a file through a link", files(at("real/one.db"), at("linked/../linked/one.db")), /^stores\.outbox/],
    [
      "a file that is missing through a link to it",
      files(at("missing.db"), at("leads-to-missing.db")),
      /^stores\.outbox/,
    ],
    [
      "a folder that is missing through a link",
      files(at("missing/a.db"), at("leads-to-missing/a.db")),
      /^stores\.outbox/,
    ],
    ["a link to itself", files(at("circle"), at("circle")), /^stores\.outbox/],
    [
      "a store and the audit file",
      files(at("one.db"), at("two.db"), at("two.db")),
      /^audit\.file\.path: .*stores\.outbox/,
    ],
    ["a store and the document", files(at("bridge.json"), at("two.db")), /^stores\.dlq\.options: .*this document/],
  ])("finding 4.3: %s", async (_, document, words) => {
    expect(await problemsOf(document)).toEqual([expect.stringMatching(words)]);
  });

  test.each([
    ["paths that begin alike", web({ path: "/in" }, { path: "/in/side" })],
    ["two addresses of a machine", web({ addr: "127.0.0.1:8082" }, { addr: "127.0.0.2:8082" })],
    ["a free port each", base({ http: { admin_addr: ":0", monitor_addr: ":0" } })],
    ["files of their own", files(at("one.db"), at("two.db"))],
  ])("finding 4.3: not %s", async (_, document) => {
    expect(await problemsOf(document)).toEqual([]);
  });

  test("finding 4.3: a receiver and a server of which the document says nothing", async () => {
    const document = (http?: object): object => ({ ...web({ addr: ":8080" }, { addr: "127.0.0.1:8081" }), http });
    const usual = { adminAddr: ":8080", monitorAddr: ":8081" };
    expect(await problemsOf(document(), usual)).toEqual([
      expect.stringMatching(/^receivers\[0\]\.options: http\.admin_addr listens/),
      expect.stringMatching(/^receivers\[1\]\.options: http\.monitor_addr listens/),
    ]);
    expect(await problemsOf(document({ admin_addr: ":1", monitor_addr: ":2" }), usual)).toEqual([]);
    expect(await problemsOf(document())).toEqual([]);
  });

  test.each([
    [
      "consumers of NATS",
      pair("nats", { servers: ["nats://n"] }, { stream: "S", consumer: "c", create: true }),
      [
        [{}, {}],
        [{ create: false }, { ack_wait: "5s" }],
        [{ consumer: "d" }, { ack_wait: "5s" }],
      ],
      [
        [{}, { ack_wait: "5s" }],
        [{ filter_subject: "a" }, {}],
        [{ deliver: "new" }, { deliver: "all" }],
      ],
    ],
    [
      "queues of AMQP",
      pair("amqp", { url: "amqp://r" }, { queue: "q", declare: true }),
      [
        [{}, {}],
        [{ declare: false }, { queue_type: "classic" }],
        [{ queue: "p" }, { queue_type: "classic" }],
      ],
      [[{}, { queue_type: "classic" }]],
    ],
  ] as const)("finding 4.3: %s may be shared, but not made in two ways", async (_, receivers, fitting, colliding) => {
    for (const [first, second] of fitting) expect(await problemsOf(receivers(first, second))).toEqual([]);
    for (const [first, second] of colliding)
      expect(await problemsOf(receivers(first, second))).toEqual([
        expect.stringMatching(
          /^receivers\[1\]\.options: receivers\[0\] makes this (consumer|queue) with other options/,
        ),
      ]);
  });

  test("finding 4.2: two sessions of MQTT that have one client id at one broker", async () => {
    const one = { client_id: "plant" };
    const both = expect.stringMatching(/^sessions\[1\]\.options: sessions\[0\] has this name/) as string;
    expect(await problemsOf(mqtt({ client_id: "plant-target" }, one))).toEqual([both]);
    expect(await problemsOf(mqtt(one, one))).toEqual([]);
    expect(await problemsOf(mqtt({ client_id: "plant-target" }, { ...one, broker_urls: ["mqtt://other"] }))).toEqual(
      [],
    );
    const sourcesOfBoth = mqtt(one, one) as { receivers: object[]; routes: object[] };
    sourcesOfBoth.receivers.push({ id: "b", session_id: "t", topics: [{ topic: "b", qos: 1 }] });
    sourcesOfBoth.routes.push(route("b", "b"));
    expect(await problemsOf(sourcesOfBoth)).toEqual([both]);
  });
});
