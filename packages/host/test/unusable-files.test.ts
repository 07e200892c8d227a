import { linkSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry, emptyConfig } from "@bridge/config";
import { systemClock } from "@bridge/ports";
import { authority } from "@bridge/tooling/certificates";
import { afterAll, describe, expect, test } from "vitest";
import { fileOrigin } from "../src/config-origin.ts";
import { runBridge, validateConfiguration } from "../src/index.ts";
import type { Overrule } from "../src/overrule.ts";
import { StandIn } from "./stand-in.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-host-"));
afterAll(() => rmSync(folder, { recursive: true }));
const there = join(folder, "cert.pem");
const key = join(folder, "key.pem");
const pair = authority().issue("bridge");
writeFileSync(there, pair.cert);
writeFileSync(key, pair.key);
const twin = join(folder, "twin.jsonl");
writeFileSync(twin, "");
linkSync(twin, join(folder, "first.jsonl"));

async function validated(document: object): Promise<readonly [code: number, said: string]> {
  const file = join(folder, "bridge.json");
  writeFileSync(file, JSON.stringify({ bridge: { id: "test" }, ...document }));
  const host = new StandIn({ args: ["-validate", "-config", file] });
  const code = await runBridge({ program: { name: "bridge", version: "0" }, plugins: {} }, host.process);
  return [code, [...host.stdout.lines, ...host.stderr.lines].join("\n")];
}

test.each([
  [
    "TLS files that are not there",
    { http: { tls_cert_file: there, tls_key_file: join(folder, "none.pem") } },
    `http.tls_key_file: "${folder}/none.pem" is not there: name a file that this user can read`,
  ],
  [
    "a folder in place of a TLS file",
    { http: { tls_cert_file: folder, tls_key_file: key } },
    `http.tls_cert_file: "${folder}" is no file: name a file that this user can read`,
  ],
  [
    "a certificate in place of its key",
    { http: { tls_cert_file: there, tls_key_file: there } },
    `http.tls_key_file: "${there}" holds no private key in PEM form: name a file with the private key of the certificate`,
  ],
  [
    "a folder in place of the audit file",
    { audit: { file: { path: folder } } },
    `audit.file.path: "${folder}" is a folder: name a file, which is made when it is missing`,
  ],
  [
    "a device in place of the audit file",
    { audit: { file: { path: "/dev/full" } } },
    'audit.file.path: "/dev/full" is no regular file: name a file, which is made when it is missing',
  ],
  [
    "an audit file that has a second name",
    { audit: { file: { path: twin } } },
    `audit.file.path: "${twin}" has another name, a hard link, under which a second process could write to it with a log of its own: delete the other name, which find -samefile tells`,
  ],
])("-validate finds %s", async (_, document, message) => {
  const [code, said] = await validated(document);
  expect(said).toContain(message);
  expect(code).toBe(1);
});

test("-validate takes files that are there, and an audit file that is not there yet, and makes none", async () => {
  const [code, said] = await validated({
    http: { tls_cert_file: there, tls_key_file: key, admin_api_key: "a-key-of-enough-letters" },
    audit: { file: { path: join(folder, "new", "audit.jsonl") } },
  });
  expect(said).toContain("valid");
  expect(code).toBe(0);
});

describe("where the servers' files are said by something else than the document, -validate looks at those", () => {
  const other = authority().issue("other");
  writeFileSync(join(folder, "other.key"), other.key);
  const DAY_MS = 86_400_000;
  const far = { now: () => Date.now() + 30 * DAY_MS };

  test.for([
    ["which are good", key, systemClock, 0, "bridge.json: valid"],
    ["which do not belong together", join(folder, "other.key"), systemClock, 1, 'other.key" does not belong to the'],
    ["which are not there", join(folder, "none"), systemClock, 1, 'none" is not there: name a file'],
    ["which have expired", key, far, 0, "warning: "],
  ] as const)("%s", async ([, keyFile, clock, code, told]) => {
    const file = join(folder, "bridge.json");
    // What is said here counts for nothing.
    writeFileSync(file, JSON.stringify({ bridge: { id: "test" }, http: { tls_cert_file: "x", tls_key_file: "y" } }));
    const overrule: Overrule = ({ http = emptyConfig().http, ...config }) => ({
      config: { ...config, http: http && { ...http, tlsCertFile: there, tlsKeyFile: keyFile } },
      warnings: [],
    });
    const host = new StandIn();
    const origin = fileOrigin(file, { env: {}, servers: undefined });
    const valid = await validateConfiguration(origin, createRegistry({}), host.process, { overrule, clock });
    const said = [...host.stdout.lines, ...host.stderr.lines];
    expect(said.join("\n")).toContain(told);
    expect(said.filter((line) => line.includes("tls_")).length).toBe(told.includes("valid") ? 0 : 1);
    expect(valid).toBe(code === 0);
  });
});
