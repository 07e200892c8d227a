import { bothOrNone, describe, pemFile } from "../options.ts";
import { type Pems, readPems } from "../tls.ts";
import * as v from "valibot";

/** The option `tls` of a session: what a client needs to know about certificates. */
export const clientTlsSchema = v.pipe(
  v.strictObject({
    ca_file: describe(
      v.optional(pemFile("authorities")),
      "PEM file of the authorities to trust instead of the system's.",
    ),
    cert_file: describe(v.optional(pemFile("certificate")), "PEM file of the bridge's own certificate."),
    key_file: describe(v.optional(pemFile("key", "cert_file")), "PEM file of the key to `cert_file`."),
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
export interface ClientIdentity extends Pems {
  readonly rejectUnauthorized: boolean;
}

/**
 * What a TLS connection is made with. Call it for each connection, so that renewed certificates are used without a
 * restart.
 *
 * @throws BridgeError `UNAVAILABLE` when a file cannot be used, with its option, its path and the remedy
 */
export async function readClientTls(tls: ClientTls | undefined): Promise<ClientIdentity> {
  const file = (option: "ca_file" | "cert_file" | "key_file") => {
    const path = tls?.[option];
    return path === undefined ? undefined : { name: `tls.${option}`, path };
  };
  const pems = await readPems({ ca: file("ca_file"), cert: file("cert_file"), key: file("key_file") });
  return { rejectUnauthorized: tls?.reject_unauthorized ?? true, ...pems };
}
