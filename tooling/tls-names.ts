/**
 * What clients of TLS make of what a server presents: one table for all of them, run against a server of each protocol. @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import dns from "node:dns";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Authority, authority, type Pair, selfSigned } from "./certificates.ts";

/** Names below this one lead to 127.0.0.1 while a table runs, in this process. */
const DOMAIN = ".tls.test";
const HOST = `broker${DOMAIN}`;
const ADDRESS = "127.0.0.1";
/** Of a client, where its protocol has one: no error shows it. */
export const TLS_SECRET = "canary-of-the-password";

/** A server of the protocol, and a client that connects to it. */
export interface TlsNamesOptions {
  /** Presents the pair from now on, to whoever connects to the port that it resolves to. */
  readonly present: (pair: Pair) => Promise<number>;
  /** One connection, with an address of TLS; rejects when it is refused. */
  readonly connect: (to: TlsTarget) => Promise<void>;
  /** Whether each row is tried, or one for each outcome. Default: each. */
  readonly all?: boolean;
}

export interface TlsTarget {
  readonly host: string;
  readonly port: number;
  /** For `ca_file`. */
  readonly caFile: string;
}

interface Cell {
  readonly host?: string;
  readonly present: (issuer: Authority) => Pair;
  /** What `ca_file` holds. Default: the certificate of the issuer. */
  readonly trust?: (issuer: Authority, presented: Pair) => string;
  /** Absent: the connection is made. */
  readonly refused?: RegExp;
}

const UNTRUSTED = /of an authority that is not trusted: name that in .*ca_file; .* the certificates between the two/;
const OTHER_NAME = (names: string, host: string): RegExp =>
  new RegExp(`its certificate is for ${names}, and not for "${host.replaceAll(".", "\\.")}": connect by a name`);

const CELLS: Readonly<Record<string, Cell>> = {
  "the name that was asked for": { present: (issuer) => issuer.issue("x", [HOST]) },
  "that name among others": { present: (issuer) => issuer.issue("x", ["other.example", "127.0.0.2", HOST]) },
  "that name as a common name alone": { present: (issuer) => issuer.issue(HOST, []) },
  "that name as a common name beside another one": {
    present: (issuer) => issuer.issue(HOST, ["other.example"]),
    refused: OTHER_NAME('"other\\.example"', HOST),
  },
  "another name": {
    present: (issuer) => issuer.issue("x", ["other.example", "third.example"]),
    refused: OTHER_NAME('"other\\.example", "third\\.example"', HOST),
  },
  "very many names": {
    present: (issuer) =>
      issuer.issue(
        "x",
        Array.from({ length: 300 }, (_, index) => `${"n".repeat(60)}-${index}.example`),
      ),
    refused: /its certificate is for ("n{60}-\d\.example",? ?){5} ?and 295 more, and not for/,
  },
  "a wildcard of its level": { present: (issuer) => issuer.issue("x", [`*${DOMAIN}`]) },
  "a wildcard of the level above": {
    host: `one.more${DOMAIN}`,
    present: (issuer) => issuer.issue("x", [`*${DOMAIN}`]),
    refused: OTHER_NAME(`"\\*\\${DOMAIN}"`, `one.more${DOMAIN}`),
  },
  "the address that was asked for": { host: ADDRESS, present: (issuer) => issuer.issue("x", [ADDRESS]) },
  "another address": {
    host: ADDRESS,
    present: (issuer) => issuer.issue("x", ["127.0.0.2"]),
    refused: OTHER_NAME('"127\\.0\\.0\\.2"', ADDRESS),
  },
  "the address as a common name alone": {
    host: ADDRESS,
    present: (issuer) => issuer.issue(ADDRESS, []),
    refused: OTHER_NAME('the common name "127\\.0\\.0\\.1" alone', ADDRESS),
  },
  "the address as a name": {
    host: ADDRESS,
    present: (issuer) => issuer.issue("x", [`DNS:${ADDRESS}`]),
    refused: OTHER_NAME('"127\\.0\\.0\\.1"', ADDRESS),
  },
  "localhost, where an address was asked for": {
    host: ADDRESS,
    present: (issuer) => issuer.issue("x", ["localhost"]),
    refused: OTHER_NAME('"localhost"', ADDRESS),
  },
  "a certificate that has expired": {
    present: (issuer) => issuer.issue("x", [HOST], { fromHours: -48, toHours: -1 }),
    refused: /its certificate, or that of its authority, has expired: renew it there/,
  },
  "a certificate that is not valid yet": {
    present: (issuer) => issuer.issue("x", [HOST], { fromHours: 1 }),
    refused: /its certificate, or that of its authority, is not valid yet: wait/,
  },
  "a certificate that nobody else has signed": {
    present: () => selfSigned("x", [HOST]),
    refused: /is not trusted: nobody but itself has signed it; name it in .*ca_file/,
  },
  "a certificate that nobody else has signed, and that is named": {
    present: () => selfSigned("x", [HOST]),
    trust: (_, { cert }) => cert,
  },
  "a certificate of another authority": {
    present: () => authority("another authority").issue("x", [HOST]),
    refused: UNTRUSTED,
  },
  "a certificate of another authority of the same name": {
    present: () => authority().issue("x", [HOST]),
    refused: /was not signed by the authority of that name in .*ca_file: name the one/,
  },
  "a certificate of an authority between, with that": {
    present: (issuer) => {
      const between = issuer.delegate("between");
      const { cert, key } = between.issue("x", [HOST]);
      return { cert: cert + between.cert, key };
    },
  },
  "a certificate of an authority between, without that": {
    present: (issuer) => issuer.delegate("between").issue("x", [HOST]),
    refused: UNTRUSTED,
  },
};

/** One for each outcome: connected, another name, out of its time, an authority that is not trusted. */
const OUTCOMES: readonly string[] = [
  "the name that was asked for",
  "another name",
  "a certificate that has expired",
  "a certificate of another authority",
];

/** Registers a test for each row of the table. */
export function tlsNames(client: string, { present, connect, all = true }: TlsNamesOptions): void {
  const cells = Object.entries(CELLS).filter(([name]) => all || OUTCOMES.includes(name));
  describe(`${client} meets a server that presents`, () => {
    const folder = mkdtempSync(join(tmpdir(), "bridge-tls-names-"));
    const restore = { lookup: dns.lookup };
    beforeAll(() => void (dns.lookup = localLookup(restore.lookup)));
    afterAll(() => {
      dns.lookup = restore.lookup;
      rmSync(folder, { recursive: true, force: true });
    });

    test.for(cells)("%s", async ([name, { host = HOST, trust, refused, ...cell }]) => {
      const issuer = authority();
      const pair = cell.present(issuer);
      const caFile = join(folder, `${name.replaceAll(/\W+/g, "-")}.crt`);
      writeFileSync(caFile, trust?.(issuer, pair) ?? issuer.cert);
      const port = await present(pair);
      const outcome = await connect({ host, port, caFile }).then(
        () => "connected",
        (error: unknown) => error,
      );
      const { code = "", message: said = "connected", stack = "" } = outcome as Partial<NodeJS.ErrnoException>;
      expect(said).toMatch(refused ?? /^connected$/);
      expect(code).toBe(refused === undefined ? "" : "CONNECTION_LOST");
      expect(said.includes(`${host}:${port}`)).toBe(refused !== undefined);
      for (const secret of [TLS_SECRET, pair.key.slice(30, 80)]) expect(said + stack).not.toContain(secret);
      expect(said.length).toBeLessThan(1_000);
    });
  });
}

/** Names of the table's domain without anybody's configuration; all others as before. */
function localLookup(usual: typeof dns.lookup): typeof dns.lookup {
  const lookup = (hostname: string, ...rest: readonly unknown[]): void => {
    if (!hostname.endsWith(DOMAIN)) {
      (usual as (...all: readonly unknown[]) => void)(hostname, ...rest);
      return;
    }
    const callback = rest.at(-1) as (...answer: readonly unknown[]) => void;
    const [options] = rest as readonly [{ readonly all?: boolean } | undefined];
    const answer = options?.all === true ? [[{ address: ADDRESS, family: 4 }]] : [ADDRESS, 4];
    setImmediate(() => callback(null, ...answer));
  };
  return lookup as typeof dns.lookup;
}
