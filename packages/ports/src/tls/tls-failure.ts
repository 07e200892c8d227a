import type { PeerCertificate } from "node:tls";

/** What the options are called that a remedy names. */
export interface TlsOptionNames {
  readonly ca: string;
  readonly pair: string;
}

const USUAL: TlsOptionNames = { ca: "tls.ca_file", pair: "tls.cert_file and tls.key_file" };
const MAX_NAMES = 5;
const MAX_NAME = 100;

type Words = (options: TlsOptionNames, error: Error) => string;

const untrusted: Words = ({ ca }) =>
  `its certificate is of an authority that is not trusted: name that in ${ca}; where it is named, the server has to send the certificates between the two, too`;
const broken: Words = () =>
  "a certificate that it has sent is damaged, or may not be used for this: have it issued anew";

/** What the platform says of the certificate of a server. */
const CODES: Readonly<Record<string, Words>> = {
  CERT_HAS_EXPIRED: () =>
    "its certificate, or that of its authority, has expired: renew it there, or set the clock of this machine",
  CERT_NOT_YET_VALID: () =>
    "its certificate, or that of its authority, is not valid yet: wait, or set the clock of this machine",
  DEPTH_ZERO_SELF_SIGNED_CERT: ({ ca }) =>
    `its certificate is not trusted: nobody but itself has signed it; name it in ${ca}, or have it issued by an authority`,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_UNTRUSTED: untrusted,
  CERT_CHAIN_TOO_LONG: broken,
  CERT_REJECTED: broken,
  CERT_REVOKED: broken,
  CERT_SIGNATURE_FAILURE: ({ ca }) =>
    `its certificate was not signed by the authority of that name in ${ca}: name the one that has signed it, of which there may be an elder or a younger one`,
  INVALID_CA: broken,
  INVALID_PURPOSE: broken,
  PATH_LENGTH_EXCEEDED: broken,
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: broken,
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: broken,
  ERR_TLS_CERT_ALTNAME_FORMAT: broken,
  ERR_TLS_CERT_ALTNAME_INVALID: (_, error) => otherName(error),
};

/** What a server answers to the certificate of a client. */
const REFUSED = /_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|ACCESS_DENIED)$/;

/**
 * What the error of a connection says about certificates, and what to do; `undefined` when it is about something else. The server
 * is named by whoever tells it.
 */
export function tlsFailure(error: Error, options: TlsOptionNames = USUAL): string | undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (Object.hasOwn(CODES, code)) return CODES[code]?.(options, error);
  const [, refused] = REFUSED.exec(code) ?? [];
  if (refused === undefined) return undefined;
  if (refused === "CERTIFICATE_REQUIRED") return `it asks for a certificate of the bridge: set ${options.pair}`;
  const why = refused.toLowerCase().replaceAll("_", " ");
  const remedy = refused === "CERTIFICATE_EXPIRED" ? "renew that" : "name one of an authority that it trusts";
  return `it does not take the certificate of the bridge (${why}): ${remedy} in ${options.pair}`;
}

/** The platform's own text holds all the names that the server has sent. */
function otherName(error: Error): string {
  const { host = "", cert } = error as { readonly host?: string; readonly cert?: PeerCertificate };
  const asked = host.replace(/\.$/, "");
  return `its certificate is for ${namesOf(cert)}, and not for ${shown(asked)}: connect by a name that it is for, or have it issued for this one`;
}

function namesOf(cert: PeerCertificate | undefined): string {
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? []);
  if (names.length === 0) {
    const common = [cert?.subject.CN ?? []].flat()[0];
    return common === undefined ? "no name" : `the common name ${shown(common)} alone`;
  }
  const told = names.slice(0, MAX_NAMES).map(shown).join(", ");
  return names.length > MAX_NAMES ? `${told} and ${names.length - MAX_NAMES} more` : told;
}

function shown(name: string): string {
  return JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}
