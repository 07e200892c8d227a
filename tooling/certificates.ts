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
const IS_AUTHORITY = der(
  0x30,
  der(0x06, OID.basicConstraints),
  der(0x01, [0xff]),
  octets(der(0x30, der(0x01, [0xff]))),
);

/** A certificate and its key, in PEM form. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** When a certificate is valid: hours from now. */
export interface Validity {
  readonly fromHours?: number;
  readonly toHours?: number;
}

/** An authority of one's own. */
export interface Authority extends Pair {
  /**
   * A certificate for these hosts, names and IPv4 addresses, valid for a day. Default: `localhost` and `127.0.0.1`. Without
   * any it has a common name alone. What begins with `DNS:` is a name, also when it looks like an address.
   */
  issue(name: string, hosts?: readonly string[], validity?: Validity): Pair;
  /** Another authority, of which this one has signed the certificate. */
  delegate(name: string): Authority;
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
  const own = newKey();
  return authorityOf(name, own, certificate({ name, key: own.privateKey }, name, own.publicKey, [IS_AUTHORITY]));
}

/** A certificate that nobody but itself has signed, of no authority. */
export function selfSigned(name: string, hosts: readonly string[]): Pair {
  const own = newKey();
  const cert = certificate({ name, key: own.privateKey }, name, own.publicKey, isFor(hosts));
  return { cert, key: keyPem(own.privateKey) };
}

interface OwnKey {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function newKey(): OwnKey {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function authorityOf(name: string, own: OwnKey, cert: string): Authority {
  const issuer = { name, key: own.privateKey };
  return {
    cert,
    key: keyPem(own.privateKey),
    issue(subject, hosts = ["localhost", "127.0.0.1"], validity = {}) {
      const { publicKey, privateKey } = newKey();
      return { cert: certificate(issuer, subject, publicKey, isFor(hosts), validity), key: keyPem(privateKey) };
    },
    delegate(subject) {
      const theirs = newKey();
      return authorityOf(subject, theirs, certificate(issuer, subject, theirs.publicKey, [IS_AUTHORITY]));
    },
  };
}

interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
}

function certificate(
  issuer: Issuer,
  subject: string,
  publicKey: KeyObject,
  extensions: readonly Buffer[],
  { fromHours = -1, toHours = 24 }: Validity = {},
): string {
  const algorithm = der(0x30, der(0x06, OID.ecdsaWithSha256));
  const content = der(
    0x30,
    der(0xa0, der(0x02, [2])),
    der(0x02, [1, ...randomBytes(8)]),
    algorithm,
    distinguishedName(issuer.name),
    der(0x30, inHours(fromHours), inHours(toHours)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length === 0 ? [] : [der(0xa3, der(0x30, ...extensions))]),
  );
  return pem("CERTIFICATE", der(0x30, content, algorithm, der(0x03, [0], sign("sha256", content, issuer.key))));
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
function isFor(hosts: readonly string[]): readonly Buffer[] {
  if (hosts.length === 0) return [];
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, host.split(".").map(Number)) : der(0x82, Buffer.from(host.replace(/^DNS:/, ""))),
  );
  return [der(0x30, der(0x06, OID.subjectAltName), octets(der(0x30, ...names)))];
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

function inHours(hours: number): Buffer {
  return time(Date.now() + hours * HOUR_MS);
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return der(0x17, Buffer.from(digits.slice(2)));
}

function keyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(label: string, bytes: Buffer): string {
  // An empty line at the end is not understood.
  const body = (bytes.toString("base64").match(/.{1,64}/g) ?? []).join("\n");
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}
