import { describe, expect, test } from "vitest";
import { tlsFailure } from "../../src/tls.ts";

const OPTIONS = { ca: "a.ca_file", pair: "a.cert_file and a.key_file" };
const coded = (code: string, more: object = {}): Error =>
  Object.assign(new Error("the platform's words"), { code, ...more });

describe("a handshake that failed is told with what to do", () => {
  // What a server sees and refuses: whole matrices of what it presents are run by each client (`tls-names`).
  test.each([
    [
      "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
      "it asks for a certificate of the bridge: set a.cert_file and a.key_file",
    ],
    [
      "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
      "it does not take the certificate of the bridge (unknown ca): name one of an authority that it trusts in a.cert_file and",
    ],
    [
      "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED",
      "it does not take the certificate of the bridge (certificate expired): renew that in a.cert_file",
    ],
    [
      "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
      "it does not take the certificate of the bridge (bad certificate): name one of an authority",
    ],
    ["CERT_REVOKED", "a certificate that it has sent is damaged, or may not be used for this: have it issued anew"],
  ])("%s", (code, words) => expect(tlsFailure(coded(code), OPTIONS)).toContain(words));

  test.each([
    [{}, 'its certificate is for no name, and not for ""'],
    [
      { host: "a.", cert: { subject: {}, subjectaltname: "DNS:b, URI:c, IP Address:1.2.3.4" } },
      'is for "b", "1.2.3.4", and not for "a"',
    ],
    [{ host: "a", cert: { subject: { CN: ["b", "c"] } } }, 'is for the common name "b" alone, and not for "a"'],
    [{ host: "a", cert: { subject: { CN: "b\nc" } } }, String.raw`is for the common name "b\nc" alone`],
  ])("a name that is another, whatever the platform tells: %o", (more, words) => {
    expect(tlsFailure(coded("ERR_TLS_CERT_ALTNAME_INVALID", more))).toContain(words);
  });

  test.each(["", "ECONNREFUSED", "ERR_SSL_WRONG_VERSION_NUMBER", "toString", "__proto__"])(
    "what is not about certificates is left to others: %s",
    (code) => expect(tlsFailure(coded(code))).toBeUndefined(),
  );
});
