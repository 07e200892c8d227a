import { createPrivateKey } from "node:crypto";
import { createSecureContext } from "node:tls";
import { authority, type Pair } from "@bridge/tooling/certificates";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outOfDate, type PemRole, whyNoPair, whyNoPem } from "../../src/tls.ts";

const issuer = authority();
const own = issuer.issue("own");
const chain = own.cert + issuer.cert;
const BEGIN = /-----BEGIN CERTIFICATE-----/g;
const END = /-----END CERTIFICATE-----/g;
const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;
const CERTIFICATES = ["authorities", "certificate"] as const;

describe("what a PEM file has to hold", () => {
  test.each(CERTIFICATES)("of %s cut off anywhere, exactly those are taken that end where one ends", (role) => {
    fc.assert(
      fc.property(fc.nat(chain.length), (length) => {
        const cut = chain.slice(0, length);
        const whole = count(cut, BEGIN) > 0 && count(cut, BEGIN) === count(cut, END);
        expect(whyNoPem(role, Buffer.from(cut)) === undefined).toBe(whole);
      }),
    );
  });

  test("a key that is cut off anywhere is refused, and what is said shows nothing of it", () => {
    const body = own.key.trimEnd();
    fc.assert(
      fc.property(fc.nat(body.length - 1), (length) => {
        const why = whyNoPem("key", Buffer.from(body.slice(0, length)));
        expect(why).toMatch(/^holds no private key in PEM form: name a file/);
      }),
    );
  });

  test("whatever bytes there are, nothing is thrown", () => {
    const roles = fc.constantFrom<PemRole>("authorities", "certificate", "key");
    fc.assert(
      fc.property(roles, fc.uint8Array({ maxLength: 200 }), fc.nat(own.cert.length), (role, bytes, at) => {
        const within = Buffer.concat([Buffer.from(own.cert.slice(0, at)), bytes, Buffer.from(own.cert.slice(at))]);
        expect(() => [whyNoPem(role, Buffer.from(bytes)), whyNoPem(role, within)]).not.toThrow();
      }),
    );
  });

  test("text around, line ends of others and what else is in a file do no harm", () => {
    const noted = `# ours\r\n${chain.replaceAll("\n", "\r\n")}\r\nand that is all\r\n${own.key}`;
    for (const role of CERTIFICATES) expect(whyNoPem(role, Buffer.from(noted))).toBeUndefined();
    expect(whyNoPem("key", Buffer.from(noted))).toBeUndefined();
  });

  test.each(["pkcs8", "sec1"] as const)("a key with a passphrase is refused as one: %s", (type) => {
    const key = createPrivateKey(own.key).export({ type, format: "pem", cipher: "aes-128-cbc", passphrase: "canary" });
    expect(whyNoPem("key", Buffer.from(key))).toMatch(
      /^holds a private key with a passphrase, which the bridge has not/,
    );
  });

  test("where a damaged authority would be passed over without a word, it is told", () => {
    const bundle = Buffer.from(issuer.cert + own.cert.slice(0, 200));
    expect(() => createSecureContext({ ca: bundle })).not.toThrow();
    expect(whyNoPem("authorities", bundle)).toMatch(/^holds a damaged certificate, the 2\. of 2/);
  });
});

describe("a pair", () => {
  const pairs: readonly Pair[] = [own, issuer, issuer.issue("own"), authority().issue("own")];
  const whyNot = (cert: Pair, key: Pair) => whyNoPair(Buffer.from(cert.cert), Buffer.from(key.key), "own.crt");

  test("is one only of a certificate and its own key", () => {
    for (const cert of pairs)
      for (const key of pairs)
        if (cert === key) expect(whyNot(cert, key)).toBeUndefined();
        else
          expect(whyNot(cert, key)).toBe(
            'does not belong to the certificate in "own.crt": name a certificate and its own key',
          );
  });
});

describe("certificates that are out of date", () => {
  const HOUR_MS = 3_600_000;
  const now = Date.now();
  const valid = (fromHours: number, toHours: number): string => issuer.issue("x", ["a"], { fromHours, toHours }).cert;

  test("are told at any time before and behind their own, and at no other", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -40, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: -99, max: 99 }),
        (from, hours, at) => {
          const told = outOfDate("certificate", Buffer.from(valid(from, from + hours)), now + (at + 0.5) * HOUR_MS);
          if (at + 0.5 < from) expect(told).toMatch(/is not valid before \d{4}-\d\d-\d\d: renew it, or set the clock/);
          else if (at + 0.5 > from + hours) expect(told).toMatch(/has expired on \d{4}-\d\d-\d\d: renew it$/);
          else expect(told).toBeUndefined();
        },
      ),
    );
  });

  test("count among others: of a chain each, of authorities when none is left", () => {
    const both = Buffer.from(valid(-1, 1) + valid(-9, -8));
    expect(outOfDate("certificate", both, now)).toMatch(/has expired/);
    expect(outOfDate("authorities", both, now)).toBeUndefined();
    expect(outOfDate("authorities", Buffer.from(valid(-9, -8)), now)).toMatch(/has expired/);
    expect(outOfDate("key", Buffer.from(own.key), now)).toBeUndefined();
  });
});
