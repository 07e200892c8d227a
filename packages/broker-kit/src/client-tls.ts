import { readFile } from "node:fs/promises";
import { BridgeError } from "@bridge/ports";
import { bothOrNone, describe, fileToRead } from "@bridge/ports/options";
import * as v from "valibot";

/** The option `tls` of a session: what a client needs to know about certificates. */
export const clientTlsSchema = v.pipe(
  v.strictObject({
    ca_file: describe(v.optional(fileToRead()), "PEM file of the authorities to trust instead of the system's."),
    cert_file: describe(v.optional(fileToRead()), "PEM file of the bridge's own certificate."),
    key_file: describe(v.optional(fileToRead()), "PEM file of the key to `cert_file`."),
    reject_unauthorized: describe(
      v.optional(v.boolean("expected true or false"), true),
      "Whether the server must prove who it is. `false` is for tests only.",
    ),
  }),
  v.forward(
    v.check(
      ({ cert_file, key_file }) => (cert_file === undefined) === (key_file === undefined),
      "goes with key_file: set both or none",
    ),
    ["cert_file"],
  ),
  v.metadata(bothOrNone("cert_file", "key_file")),
);

export type ClientTls = v.InferOutput<typeof clientTlsSchema>;

/** The part of the options of a TLS connection that comes from files. */
export interface ClientIdentity {
  readonly rejectUnauthorized: boolean;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * What a TLS connection is made with. Call it for each connection, so that renewed certificates are used without a
 * restart.
 *
 * @throws BridgeError `UNAVAILABLE` when a file cannot be read
 */
export async function readClientTls(tls: ClientTls | undefined): Promise<ClientIdentity> {
  const [ca, cert, key] = await Promise.all([
    pem("ca_file", tls?.ca_file),
    pem("cert_file", tls?.cert_file),
    pem("key_file", tls?.key_file),
  ]);
  return {
    rejectUnauthorized: tls?.reject_unauthorized ?? true,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

async function pem(option: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path);
  } catch (error) {
    const { code = "error" } = error as NodeJS.ErrnoException;
    throw new BridgeError("UNAVAILABLE", `tls.${option} "${path}" cannot be read: ${code}`, { cause: error });
  }
}
