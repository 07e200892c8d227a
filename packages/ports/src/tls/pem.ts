import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

/**
 * What a PEM file has to hold: the `authorities` to trust; one's own `certificate`, followed by those that lead from it to its
 * authority; the private `key` of that.
 */
export type PemRole = "authorities" | "certificate" | "key";

const REMEDIES: Readonly<Record<PemRole, string>> = {
  authorities: "name a file with the certificates of the authorities",
  certificate: "name a file with the certificate, followed by those that lead from it to its authority",
  key: "name a file with the private key of the certificate, without a passphrase",
};
const BEGIN = "-----BEGIN ";
const CERTIFICATE = /^(?:X509 |TRUSTED )?CERTIFICATE-----/;
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/** Why what was in a file cannot be used as it should be, with the remedy, as the end of a sentence; `undefined` when it can. */
export function whyNoPem(role: PemRole, pem: Buffer): string | undefined {
  const why = role === "key" ? whyNoKey(pem) : whyNoCertificates(pem);
  return why === undefined ? undefined : `${why}: ${REMEDIES[role]}`;
}

/** Why a key cannot be used with a certificate, both of use by themselves: as {@link whyNoPem}, about the file of the key. */
export function whyNoPair(cert: Buffer, key: Buffer, certFile: string): string | undefined {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    return `does not belong to the certificate in ${JSON.stringify(certFile)}: name a certificate and its own key`;
  try {
    createSecureContext({ cert, key });
    return undefined;
  } catch (error) {
    const { reason = "for a reason that it does not tell" } = error as { readonly reason?: string };
    return `and the certificate in ${JSON.stringify(certFile)} are refused by OpenSSL (${reason}): have a pair issued that it takes`;
  }
}

/**
 * Why others refuse, at `now`, what can be read: certificates that have expired or are not valid yet. Of authorities one that is
 * valid is enough.
 */
export function outOfDate(role: PemRole, pem: Buffer, now: number): string | undefined {
  if (role === "key") return undefined;
  const told = certificatesIn(pem).map((block) => outOfDateOne(new X509Certificate(block), now));
  if (role === "authorities" && told.includes(undefined)) return undefined;
  return told.find((words) => words !== undefined);
}

function outOfDateOne({ validFromDate, validToDate }: X509Certificate, now: number): string | undefined {
  if (validToDate.getTime() <= now) return `holds a certificate that has expired on ${day(validToDate)}: renew it`;
  if (validFromDate.getTime() <= now) return undefined;
  return `holds a certificate that is not valid before ${day(validFromDate)}: renew it, or set the clock of this machine`;
}

function whyNoCertificates(pem: Buffer): string | undefined {
  const blocks = certificatesIn(pem);
  if (blocks.length === 0) return "holds no certificate in PEM form";
  const damaged = blocks.findIndex((block) => !isCertificate(block));
  return damaged < 0 ? undefined : `holds a damaged certificate, the ${damaged + 1}. of ${blocks.length}`;
}

function whyNoKey(pem: Buffer): string | undefined {
  if (ENCRYPTED.test(pem.toString("latin1"))) return "holds a private key with a passphrase, which the bridge has not";
  try {
    createPrivateKey(pem);
    return undefined;
  } catch {
    return "holds no private key in PEM form";
  }
}

/** Each from its first line to where the next begins. */
function certificatesIn(pem: Buffer): readonly string[] {
  const parts = pem.toString("latin1").split(BEGIN).slice(1);
  return parts.filter((part) => CERTIFICATE.test(part)).map((part) => BEGIN + part);
}

/** The platform passes over what is damaged behind the first one, and trusts what is left. */
function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).validTo !== "";
  } catch {
    return false;
  }
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
