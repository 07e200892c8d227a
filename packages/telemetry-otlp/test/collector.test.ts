import { certificates } from "@bridge/tooling/certificates";
import { afterAll, describe, expect, test } from "vitest";
import { Collector } from "../src/collector.ts";
import { SECTION } from "./support/traced-bridge.ts";

const files = certificates("bridge", "other");
afterAll(() => files[Symbol.dispose]());
const CERTIFICATE = "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE";
const KEY = "OTEL_EXPORTER_OTLP_CLIENT_KEY";
const pair = (cert: string, key: string) => ({ [CERTIFICATE]: files.path(cert), [KEY]: files.path(key) });
const collector = (env: Readonly<Record<string, string>>, caFile?: string) =>
  new Collector({ ...SECTION, caFile: caFile === undefined ? undefined : files.path(caFile) }, 1_000, env);

describe("files of a collector with TLS", () => {
  test("are taken from the document, else from the environment", () => {
    using written = collector(pair("bridge.crt", "bridge.key"), "ca.crt");
    using named = collector({ OTEL_EXPORTER_OTLP_CERTIFICATE: files.path("ca.crt") });
    expect([written, named]).toHaveLength(2);
  });

  test.for([
    ["telemetry.otlp.ca_file", {}, "nowhere", /: ENOENT/],
    ["telemetry.otlp.ca_file", {}, "bridge.key", /".*bridge\.key" holds no certificate in PEM form: name a file/],
    [
      "OTEL_EXPORTER_OTLP_CERTIFICATE",
      { OTEL_EXPORTER_OTLP_CERTIFICATE: files.path("other.key") },
      undefined,
      /holds no/,
    ],
    [CERTIFICATE, pair("bridge.key", "bridge.key"), undefined, /".*bridge\.key" holds no certificate in PEM form/],
    [KEY, pair("bridge.crt", "bridge.crt"), undefined, /".*bridge\.crt" holds no private key in PEM form/],
    [KEY, pair("bridge.crt", "other.key"), undefined, /".*other\.key" does not belong to the certificate in ".*bridge/],
  ] as const)("that cannot be used are named, with the remedy: %s, %o, %s", ([name, env, caFile, why]) => {
    expect(() => collector(env, caFile)).toThrow(why);
    expect(() => collector(env, caFile)).toThrow(`${name}: `);
  });
});

describe("where a collector is, as it may be shown", () => {
  test.each([
    [undefined, {}, "http://localhost:4318"],
    [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: "https://u:canary@a.example/x?k=canary" }, "https://a.example"],
    [
      undefined,
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://b", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:1/t" },
      "http://c:1",
    ],
    [undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" }, ""],
    ["https://d.example/canary", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://b" }, "https://d.example"],
  ])("%s, %o: %s", (endpoint, env, shown) => {
    using one = new Collector({ ...SECTION, endpoint }, 1_000, env);
    expect(one.place("traces")).toBe(shown);
  });
});
