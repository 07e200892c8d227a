import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authority } from "@bridge/tooling/certificates";
import { afterAll, expect, test } from "vitest";
import { runBridge } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-host-"));
afterAll(() => rmSync(folder, { recursive: true }));
const there = join(folder, "cert.pem");
const key = join(folder, "key.pem");
const pair = authority().issue("bridge");
writeFileSync(there, pair.cert);
writeFileSync(key, pair.key);

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
])("-validate finds %s", async (_, document, message) => {
  const [code, said] = await validated(document);
  expect(said).toContain(message);
  expect(code).toBe(1);
});

test("-validate takes files that are there, and an audit file that is not there yet, and makes none", async () => {
  const [code, said] = await validated({
    http: { tls_cert_file: there, tls_key_file: key },
    audit: { file: { path: join(folder, "new", "audit.jsonl") } },
  });
  expect(said).toContain("valid");
  expect(code).toBe(0);
});
