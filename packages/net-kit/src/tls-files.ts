import { X509Certificate } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import { readSmallFile } from "@bridge/ports/internal";
import { whyNoPair, whyNoPem } from "@bridge/ports/tls";

/** PEM files. */
export interface TlsFiles {
  /** The certificate, then those that lead from it to the authority. */
  readonly certFile: string;
  readonly keyFile: string;
  /** The authorities of which a client must show a certificate. Default: clients need none. */
  readonly clientCaFile?: string | undefined;
}

/** What was in the files. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

/** What a server is known by. */
export interface TlsIdentity {
  readonly material: TlsMaterial;
  readonly options: SecureContextOptions;
  /** When the certificate expires, in epoch milliseconds. */
  readonly expiresAt: number;
}

/** Far above any chain of certificates. */
const MAX_FILE_BYTES = 1_048_576;

/** @throws Error naming the file that cannot be read */
export async function readTlsFiles({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<TlsMaterial> {
  const [cert, key, ca] = await Promise.all([
    read(certFile),
    read(keyFile),
    clientCaFile === undefined ? undefined : read(clientCaFile),
  ]);
  return { cert, key, ca };
}

/** @throws Error naming the file that is none of what it should be, or whose key belongs to another certificate */
export function identityOf(material: TlsMaterial, { certFile, keyFile, clientCaFile }: TlsFiles): TlsIdentity {
  const { cert, key, ca } = material;
  refuse(certFile, whyNoPem("certificate", cert));
  refuse(keyFile, whyNoPem("key", key));
  if (clientCaFile !== undefined && ca !== undefined) refuse(clientCaFile, whyNoPem("authorities", ca));
  refuse(keyFile, whyNoPair(cert, key, certFile));
  const options: SecureContextOptions = { cert, key, ca, minVersion: "TLSv1.2" };
  return { material, options, expiresAt: new X509Certificate(cert).validToDate.getTime() };
}

/** Whether two listeners are to be known by the same files. */
export function sameTlsFiles(a: TlsFiles | undefined, b: TlsFiles | undefined): boolean {
  return a?.certFile === b?.certFile && a?.keyFile === b?.keyFile && a?.clientCaFile === b?.clientCaFile;
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readSmallFile(file, MAX_FILE_BYTES);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be read: ${code ?? message}`, { cause: error });
  }
}

function refuse(file: string, why: string | undefined): void {
  if (why !== undefined) throw new Error(`${file} ${why}`);
}
