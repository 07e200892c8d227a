import type { Socket } from "node:net";
import { callbackify } from "node:util";
import { readPems } from "@bridge/ports/tls";
import type { buildConnector as Connector } from "undici";
import { buildConnector } from "./undici.ts";

/** PEM files of a sender. */
export interface ClientTls {
  readonly ca_file?: string | undefined;
  readonly cert_file?: string | undefined;
  readonly key_file?: string | undefined;
}

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
  const pems = await readPems({
    ca: named(files, "ca_file"),
    cert: named(files, "cert_file"),
    key: named(files, "key_file"),
  });
  const connect = buildConnector({ ...pems, timeout: timeoutMs, allowH2: false });
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
  });
}

function named(files: ClientTls, option: keyof ClientTls) {
  const path = files[option];
  return path === undefined ? undefined : { name: `tls.${option}`, path };
}
