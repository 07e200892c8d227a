import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { callbackify } from "node:util";
import type { buildConnector as Connector } from "undici";
import { buildConnector } from "./undici.ts";

/** PEM files of a sender. */
export interface ClientTls {
  readonly ca_file?: string | undefined;
  readonly cert_file?: string | undefined;
  readonly key_file?: string | undefined;
}

const OPTIONS = { ca_file: "ca", cert_file: "cert", key_file: "key" } as const;

/**
 * Opens connections with what the files hold at that time, so that renewed ones are used without a restart. A file
 * that is of no use fails the connection, and with it the send, as transient.
 */
export function tlsConnector(files: ClientTls, timeoutMs: number): Connector.connector {
  const connect = callbackify((target: Connector.Options) => open(target, files, timeoutMs));
  return (target, callback) =>
    connect(target, (error: Error | null, socket: Socket) =>
      error === null ? callback(null, socket) : callback(error, null),
    );
}

async function open(target: Connector.Options, files: ClientTls, timeoutMs: number): Promise<Socket> {
  const connect = buildConnector({ ...(await read(files)), timeout: timeoutMs, allowH2: false });
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
  });
}

async function read(files: ClientTls): Promise<Readonly<Record<string, Buffer>>> {
  const pems: Record<string, Buffer> = {};
  for (const name of ["ca_file", "cert_file", "key_file"] as const) {
    const path = files[name];
    if (path === undefined) continue;
    try {
      pems[OPTIONS[name]] = await readFile(path);
    } catch (error) {
      const { code = "error" } = error as NodeJS.ErrnoException;
      throw new Error(`tls.${name} "${path}" cannot be read: ${code}`, { cause: error });
    }
  }
  return pems;
}
