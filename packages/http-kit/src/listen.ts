import { readFile } from "node:fs/promises";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { orAborted, type Seams } from "@bridge/ports";
import { BoundServer, type FetchApp, type Listener } from "./bound-server.ts";
import { type ListenAddress, parseListenAddress } from "./listen-address.ts";

/** PEM files, read once. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ListenOptions extends Pick<Seams, "logger" | "random"> {
  /** `:8080`, `host:8080` or `[::1]:8080`. */
  readonly addr: string;
  readonly app: FetchApp;
  /** Default: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
}

const LIMITS = {
  /** Head and body of a request have to be there by then; checked every `connectionsCheckingInterval`. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  /** Above the 60 s that load balancers commonly keep a connection idle, so that it is not us who cut it. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
} as const;
const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 1_000;

/**
 * Resolves once the address is bound. `signal` bounds the binding, not the life of the listener.
 * @throws Error when the address is malformed or taken, or the TLS files cannot be used; names them
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<Listener> {
  const { addr, app, tls, logger, random } = options;
  const address = parseListenAddress(addr);
  const server = await createServer(tls);
  server.maxConnections = MAX_CONNECTIONS;
  const listener = new BoundServer(server, app, random, tls === undefined ? "http" : "https");
  try {
    await orAborted(bind(server, address), signal);
  } catch (error) {
    await listener[Symbol.asyncDispose]();
    throw new Error(`cannot listen on ${addr}: ${(error as Error).message}`, { cause: error });
  }
  server.on("error", (error) => logger.error("listener failed", { addr, error: error.message }));
  return listener;
}

async function createServer(tls: TlsFiles | undefined): Promise<Server> {
  // A missing Host header is answered by us: as JSON, and not at all to HTTP/1.0, which has none.
  const options = { ...LIMITS, requireHostHeader: false };
  if (tls === undefined) return createHttpServer(options);
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)]);
    return createHttpsServer({
      ...options,
      cert,
      key,
      minVersion: "TLSv1.2",
      handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    });
  } catch (error) {
    const { certFile, keyFile } = tls;
    throw new Error(`cannot use the TLS files ${certFile} and ${keyFile}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function bind(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
