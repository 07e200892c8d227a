import { statSync } from "node:fs";
import type { FileFault, NamedPemFile } from "@bridge/config";
import { readSmallFileSync } from "@bridge/ports/internal";
import { outOfDate, type PemRole, whyNoPair, whyNoPem } from "@bridge/ports/tls";

/** Far above any chain of certificates, and any list of authorities. */
const MAX_FILE_BYTES = 1_048_576;

/**
 * What is wrong, at `now`, with what is in a PEM file that can be read. One that is out of date is used by a start all
 * the same, and others refuse it.
 */
export function unusablePem(path: string, { role, certificate }: NamedPemFile, now: number): FileFault | undefined {
  const pem = contentOf(path);
  if (pem === undefined) return { kind: "problem", words: `has more than ${MAX_FILE_BYTES} bytes: name a PEM file` };
  const why = whyNoPem(role, pem) ?? (certificate === undefined ? undefined : whyNotOf(certificate, pem));
  if (why !== undefined) return { kind: "problem", words: why };
  const old = outOfDate(role, pem, now);
  return old === undefined ? undefined : { kind: "warning", words: old };
}

/** What is wrong with the certificate itself is told of its own field. */
function whyNotOf(certificate: string, key: Buffer): string | undefined {
  const cert = usable("certificate", certificate);
  return cert === undefined ? undefined : whyNoPair(cert, key, certificate);
}

function usable(role: PemRole, path: string): Buffer | undefined {
  try {
    const pem = statSync(path).isFile() ? contentOf(path) : undefined;
    return pem === undefined || whyNoPem(role, pem) !== undefined ? undefined : pem;
  } catch {
    return undefined;
  }
}

function contentOf(path: string): Buffer | undefined {
  return statSync(path).size > MAX_FILE_BYTES ? undefined : readSmallFileSync(path, MAX_FILE_BYTES);
}
