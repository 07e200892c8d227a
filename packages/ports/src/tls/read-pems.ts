import { BridgeError } from "../errors.ts";
import { readSmallFile } from "../small-file.ts";
import { type PemRole, whyNoPair, whyNoPem } from "./pem.ts";

/** Far above any chain of certificates, and any list of authorities. */
const MAX_FILE_BYTES = 1_048_576;
const ROLES = { ca: "authorities", cert: "certificate", key: "key" } as const satisfies Record<keyof Pems, PemRole>;

/** A file, and what it is told by: the option that names it. */
export interface NamedPem {
  readonly name: string;
  readonly path: string;
}

/** What a connection of TLS is made with, as files. */
export interface PemFiles {
  readonly ca?: NamedPem | undefined;
  readonly cert?: NamedPem | undefined;
  readonly key?: NamedPem | undefined;
}

/** The same as the platform takes it; only what there is. */
export interface Pems {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * What is in the files. Without this look the platform would take a file with no authority in it for an authority that has
 * signed nothing, and blame the server.
 *
 * @throws BridgeError `UNAVAILABLE`, naming option, file and remedy, when one of them cannot be used
 */
export async function readPems(files: PemFiles): Promise<Pems> {
  const [ca, cert, key] = await Promise.all([read("ca", files.ca), read("cert", files.cert), read("key", files.key)]);
  if (cert !== undefined && key !== undefined && files.key !== undefined && files.cert !== undefined) {
    const why = whyNoPair(cert, key, files.cert.path);
    if (why !== undefined) throw unusable(files.key, why);
  }
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

async function read(which: keyof Pems, file: NamedPem | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const pem = await contentOf(file);
  const why = whyNoPem(ROLES[which], pem);
  if (why !== undefined) throw unusable(file, why);
  return pem;
}

async function contentOf(file: NamedPem): Promise<Buffer> {
  try {
    return await readSmallFile(file.path, MAX_FILE_BYTES);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unusable(file, `cannot be read: ${code ?? message}`, error);
  }
}

function unusable({ name, path }: NamedPem, why: string, cause?: unknown): BridgeError {
  return new BridgeError("UNAVAILABLE", `${name} ${JSON.stringify(path)} ${why}`, { cause });
}
