/**
 * Certificates for tests, made by the platform alone: a fresh machine has no openssl. @module
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OID = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  basicConstraints: [0x55, 0x1d, 0x13],
  subjectAltName: [0x55, 0x1d, 0x11],
};
const HOUR_MS = 3_600_000;

/** A certificate and its key, in PEM form. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** An authority of one's own. */
export interface Authority extends Pair {
  /** A certificate for these hosts, names and IPv4 addresses, valid for a day. Default: `localhost` and `127.0.0.1`. */
  issue(name: string, hosts?: readonly string[]): Pair;
}

/** Certificates in a folder that disposing removes: `ca.crt`, and `NAME.crt` and `NAME.key` for each name. */
export interface Certificates extends Disposable {
  readonly dir: string;
  readonly authority: Authority;
  /** Contents by file name. */
  readonly files: Readonly<Record<string, Buffer>>;
  path(file: string): string;
}

export function authority(name = "test authority"): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const make = (subject: string, publicKey: KeyObject, extension: Buffer): string => {
    const algorithm = der(0x30, der(0x06, OID.ecdsaWithSha256));
    const validity = der(0x30, time(Date.now() - HOUR_MS), time(Date.now() + 24 * HOUR_MS));
    const content = der(
      0x30,
      der(0xa0, der(0x02, [2])),
      der(0x02, [1, ...randomBytes(8)]),
      algorithm,
      distinguishedName(name),
      validity,
      distinguishedName(subject),
      publicKey.export({ type: "spki", format: "der" }),
      der(0xa3, der(0x30, extension)),
    );
    return pem("CERTIFICATE", der(0x30, content, algorithm, der(0x03, [0], sign("sha256", content, own.privateKey))));
  };
  const isAuthority = der(
    0x30,
    der(0x06, OID.basicConstraints),
    der(0x01, [0xff]),
    octets(der(0x30, der(0x01, [0xff]))),
  );
  return {
    cert: make(name, own.publicKey, isAuthority),
    key: keyPem(own.privateKey),
    issue(subject, hosts = ["localhost", "127.0.0.1"]) {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      return { cert: make(subject, publicKey, isFor(hosts)), key: keyPem(privateKey) };
    },
  };
}

export function certificates(...names: readonly string[]): Certificates {
  const dir = mkdtempSync(join(tmpdir(), "bridge-certificates-"));
  const issuer = authority();
  const contents: Record<string, string> = { "ca.crt": issuer.cert };
  for (const name of names) {
    const { cert, key } = issuer.issue(name);
    Object.assign(contents, { [`${name}.crt`]: cert, [`${name}.key`]: key });
  }
  for (const [file, content] of Object.entries(contents)) writeFileSync(join(dir, file), content);
  return {
    dir,
    authority: issuer,
    files: Object.fromEntries(Object.entries(contents).map(([file, content]) => [file, Buffer.from(content)])),
    path: (file) => join(dir, file),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function distinguishedName(name: string): Buffer {
  return der(0x30, der(0x31, der(0x30, der(0x06, OID.commonName), der(0x0c, Buffer.from(name)))));
}

/** What says whom a certificate is for. */
function isFor(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, host.split(".").map(Number)) : der(0x82, Buffer.from(host)),
  );
  return der(0x30, der(0x06, OID.subjectAltName), octets(der(0x30, ...names)));
}

function octets(content: Buffer): Buffer {
  return der(0x04, content);
}

/** One element of the encoding that certificates are written in (X.690). */
function der(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  return Buffer.concat([Uint8Array.from([tag, ...lengthOf(content)]), content]);
}

/** In as few bytes as it takes: some readers take no others. */
function lengthOf({ length }: Buffer): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return der(0x17, Buffer.from(digits.slice(2)));
}

function keyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(label: string, bytes: Buffer): string {
  const body = bytes.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}
