import { createSign, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TlsFiles } from "../src/index.ts";

const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];

/** A certificate for `localhost` that is valid for a day, signed by itself, as files of a folder that disposing removes. */
export async function selfSigned(): Promise<TlsFiles & AsyncDisposable> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, der(0x06, ECDSA_WITH_SHA256));
  const name = der(0x30, der(0x31, der(0x30, der(0x06, COMMON_NAME), der(0x0c, Buffer.from("localhost")))));
  const validity = der(0x30, time(Date.now() - 3_600_000), time(Date.now() + 86_400_000));
  const key = publicKey.export({ type: "spki", format: "der" });
  const content = der(0x30, der(0x02, [1]), algorithm, name, validity, name, key);
  const signature = createSign("sha256").update(content).sign(privateKey);
  const certificate = der(0x30, content, algorithm, der(0x03, [0], signature));

  const folder = await mkdtemp(join(tmpdir(), "bridge-tls-"));
  const files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  const body = certificate.toString("base64").replaceAll(/.{64}/g, "$&\n");
  await writeFile(files.certFile, `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`);
  await writeFile(files.keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
  return { ...files, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

function der(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  const size = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Uint8Array.from([tag, ...size]), content]);
}

function time(at: number): Buffer {
  const digits = new Date(at)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, "")
    .slice(2);
  return der(0x17, Buffer.from(digits));
}
