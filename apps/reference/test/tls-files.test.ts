import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { authority } from "@bridge/tooling/certificates";
import { afterAll, describe, expect, test } from "vitest";
import { Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const ROLES = { ca_file: "authorities", cert_file: "certificate", key_file: "key" } as const;
type Role = (typeof ROLES)[keyof typeof ROLES];

/** Where the document below has the parts that the published schema describes. */
const PLACES: Readonly<Record<string, string>> = {
  http: "http",
  "telemetry.otlp": "telemetry.otlp",
  mqtt_session: "sessions[0].options",
  amqp_session: "sessions[1].options",
  nats_session: "sessions[2].options",
  http_receiver: "receivers[0].options",
  http_sender: "senders[0].options",
  postgres_dlq: "stores.dlq.options",
  postgres_outbox: "stores.outbox.options",
  postgres_lease: "stores.lease.options",
};

interface Field {
  readonly place: string;
  readonly role: Role;
}

/** All fields of the published schema that name a PEM file. */
function fields(): readonly Field[] {
  const schema: unknown = JSON.parse(readFileSync(new URL("../schema/bridge.schema.json", import.meta.url), "utf8"));
  const found: string[] = [];
  const walk = (node: unknown, path: readonly string[]): void => {
    if (typeof node !== "object" || node === null) return;
    const { description } = node as { readonly description?: unknown };
    if (typeof description === "string" && /\bPEM\b/.test(description)) found.push(path.join("."));
    for (const [key, value] of Object.entries(node)) {
      walk(value, key === "properties" || key === "definitions" ? path : [...path, key]);
    }
  };
  walk(schema, []);
  return found.map((path) => {
    const [part = "", place = ""] = Object.entries(PLACES).find(([name]) => path.startsWith(`${name}.`)) ?? [];
    const [, role] = Object.entries(ROLES).find(([name]) => path.endsWith(name)) ?? [];
    if (place === "" || role === undefined) throw new Error(`add the place of ${path} to this test`);
    return { place: place + path.slice(part.length), role };
  });
}

type Files = Readonly<Record<Role, string>>;

/** One with all of these fields in it, which name these files. */
function document({ authorities, certificate, key }: Files): string {
  const pair = { cert_file: certificate, key_file: key };
  const tls = { ca_file: authorities, ...pair };
  const store = { type: "postgres", options: { host: "localhost", tls } };
  const lossy = { on_permanent_failure: "drop", on_expired: "drop" };
  return JSON.stringify({
    bridge: { id: "test" },
    http: { tls_cert_file: certificate, tls_key_file: key },
    telemetry: { otlp: { endpoint: "https://localhost", ca_file: authorities } },
    stores: { dlq: store, outbox: store, lease: store },
    sessions: [
      { id: "mqtt", transport: "mqtt", options: { broker_urls: ["mqtts://localhost"], tls } },
      { id: "amqp", transport: "amqp", options: { url: "amqps://localhost", tls } },
      { id: "nats", transport: "nats", options: { servers: ["tls://localhost"], tls } },
    ],
    receivers: [
      { id: "in", transport: "http", options: { addr: "127.0.0.1:0", tls: { ...pair, client_ca_file: authorities } } },
    ],
    senders: [{ id: "out", transport: "http", options: { url: "https://localhost", tls } }],
    bindings: [{ id: "to-out", sender_id: "out" }],
    routes: [{ id: "only", receiver_id: "in", bindings: ["to-out"], policy: lossy }],
  });
}

const issuer = authority();
const good = issuer.issue("x");
const write = (name: string, content: string | Buffer): string => folder.write(name, content as string);
const GOOD: Files = {
  authorities: write("ca.crt", issuer.cert),
  certificate: write("good.crt", good.cert + issuer.cert),
  key: write("good.key", good.key),
};
const encrypted = createPrivateKey(good.key).export({
  type: "pkcs8",
  format: "pem",
  cipher: "aes-256-cbc",
  passphrase: "canary",
});
const chain = good.cert + issuer.cert.slice(0, 200) + issuer.cert.slice(260);
const out = (hours: { readonly fromHours: number; readonly toHours: number }): Partial<Files> => {
  const { cert, key } = issuer.issue("x", ["localhost"], hours);
  return { certificate: write(`${hours.toHours}.crt`, cert), key: write(`${hours.toHours}.key`, key) };
};

const each = (path: string): Partial<Files> => ({ authorities: path, certificate: path, key: path });
const PROBLEMS: readonly (readonly [what: string, files: Partial<Files>, said: RegExp, of?: Role])[] = [
  ["not there", each(join(folder.path, "none.pem")), /is not there: name a file that this user can read/],
  ["folders", each(folder.path), /is no file: name a file that this user can read/],
  ["empty", each(write("empty.pem", "")), /holds no (certificate|private key) in PEM form: name a file with/],
  ["text", each(write("text.pem", "hello\n")), /holds no (certificate|private key) in PEM form: name a file with/],
  [
    "in another form",
    { certificate: write("form.crt", new X509Certificate(good.cert).raw) },
    /holds no certificate in PEM form: name a file with the certificate, followed by/,
    "certificate",
  ],
  ["a key for a certificate", { certificate: GOOD.key }, /holds no certificate in PEM form/, "certificate"],
  ["a certificate for a key", { key: GOOD.certificate }, /holds no private key in PEM form/],
  [
    "cut off",
    { authorities: write("half.ca", issuer.cert.slice(0, 300)), key: write("half.key", good.key.slice(0, 100)) },
    /holds (a damaged certificate, the 1\. of 1|no private key in PEM form)/,
  ],
  [
    "damaged in their middle",
    { authorities: write("chain.ca", chain), certificate: write("chain.crt", chain) },
    /holds a damaged certificate, the 2\. of 2: name a file with the certificate/,
  ],
  [
    "keys with a passphrase",
    { key: write("encrypted.key", encrypted) },
    /holds a private key with a passphrase, which the bridge has not: name a file with .* without a passphrase/,
  ],
  [
    "keys of another certificate",
    { key: write("other.key", issuer.issue("other").key) },
    /does not belong to the certificate in ".*good\.crt": name a certificate and its own key/,
  ],
  ["without end", each(write("large.pem", "x".repeat(1_048_577))), /has more than 1048576 bytes: name a PEM file/],
];

const WARNINGS: readonly (readonly [what: string, files: Partial<Files>, said: RegExp, of: Role])[] = [
  ["have expired", out({ fromHours: -48, toHours: -24 }), /has expired on \d{4}-\d\d-\d\d: renew it/, "certificate"],
  [
    "are not valid yet",
    out({ fromHours: 24, toHours: 48 }),
    /not valid before \d{4}-\d\d-\d\d: renew it, or set/,
    "certificate",
  ],
  [
    "are of authorities that have expired",
    { authorities: write("old.ca", issuer.issue("old", [], { fromHours: -48, toHours: -24 }).cert) },
    /has expired on \d{4}-\d\d-\d\d: renew it/,
    "authorities",
  ],
];

describe("-validate looks into every TLS file of the schema", () => {
  const all = fields();
  const of = (...roles: readonly string[]) =>
    new Set(all.filter(({ role }) => roles.includes(role)).map(({ place }) => place));

  async function validated(files: Partial<Files>) {
    const file = folder.write("bridge.json", document({ ...GOOD, ...files }));
    await using bridge = folder.run(["-validate", "-config", file], {
      BRIDGE_ADMIN_API_KEY: "a-key-of-enough-letters",
    });
    const code = await bridge.ended;
    const told = bridge.stderr.split("\n").map((line) => /\.json:\d+:\d+ ([\w.[\]]+): (".*)$/.exec(line));
    return { code, text: bridge.stderr, told: told.filter((match) => match !== null) };
  }

  test("which are good", async () => {
    expect(all.length).toBeGreaterThanOrEqual(27);
    expect(await validated({})).toMatchObject({ code: 0, told: [] });
  });

  test.for(PROBLEMS)("which are %s", async ([, files, said, only]) => {
    const { code, told, text } = await validated(files);
    expect(code).toBe(1);
    const roles = only === undefined ? Object.keys(files) : [only];
    const matching = told.filter(([, , words = ""]) => said.test(words)).map(([, field]) => field);
    expect(new Set(matching)).toEqual(of(...roles));
    expect(text).not.toMatch(/BEGIN|canary/);
  });

  test.for(WARNINGS)("which %s: valid, with a warning", async ([, files, said, role]) => {
    const { code, told, text } = await validated(files);
    expect(new Set(told.map(([, field, words = ""]) => said.test(words) && field))).toEqual(of(role));
    expect(text).toMatch(/^warning: /m);
    expect(code).toBe(0);
  });
});
