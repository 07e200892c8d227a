import type { IncomingMessage, RequestListener } from "node:http";
import { BoundedServer, type ClientMemory, type ServerLimits, type TlsFiles } from "@bridge/net-kit";
import { type Random, type Seams, systemClock } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import { getRequestListener, RequestError } from "@hono/node-server";
import { CORRELATION_HEADER, SECURITY_HEADERS } from "./common-headers.ts";
import { parseListenAddress } from "./listen-address.ts";
import { AppListener, type FetchApp, type Listener } from "./listener.ts";

export interface ListenOptions extends Pick<Seams, "logger" | "random">, Partial<Pick<Seams, "clock">> {
  /** `:8080`, `host:8080` or `[::1]:8080`. */
  readonly addr: string;
  readonly app: FetchApp;
  /** Default: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** Default: that of all listeners of this process. */
  readonly memory?: ClientMemory | undefined;
}

const LIMITS: ServerLimits = {
  connections: 1_000,
  headerSize: 16_384,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  /** Above the 60 s that load balancers commonly keep a connection idle, so that it is not us who cut it. */
  idleTimeoutMs: 65_000,
  handshakeTimeoutMs: 10_000,
  answerTimeoutMs: 10_000,
};

/**
 * Resolves once the address is bound. `signal` bounds the binding, not the life of the listener.
 * @throws Error when the address is malformed or taken, or the TLS files cannot be used; names them
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<Listener> {
  const { addr, app, tls, memory, random, clock = systemClock } = options;
  const logger = steadyLogger(options.logger);
  const address = parseListenAddress(addr);
  const closing = new AbortController();
  const take = carry(app, random, closing.signal);
  try {
    const server = await BoundedServer.open(
      {
        ...address,
        limits: LIMITS,
        tls,
        // A missing Host header is answered by us: as JSON, and not at all to HTTP/1.0, which has none.
        requireHostHeader: false,
        on: { request: take },
        methods: app.methods ?? [],
        refusalHeaders: () => ownHeaders(random.id()),
        clock,
        logger,
        ...(memory !== undefined && { memory }),
      },
      signal,
    );
    server.onFault((error) => logger.error("listener failed", { addr, error: error.message }));
    return new AppListener(server, tls === undefined ? "http" : "https", closing);
  } catch (error) {
    throw new Error(`cannot listen on ${addr}: ${(error as Error).message}`, { cause: error });
  }
}

function carry(app: FetchApp, random: Random, closing: AbortSignal): RequestListener {
  const answer = getRequestListener((request, env) => app.fetch(request, { ...env, closing }), {
    overrideGlobalObjects: false,
    errorHandler: (error) => refusal(error, random.id()),
  });
  return (incoming: IncomingMessage, outgoing) => {
    if (incoming.httpVersion === "1.0") incoming.headers.host ??= "localhost";
    void answer(incoming, outgoing);
  };
}

/** A request that the app never saw, because its target or host is malformed; or a fault of the carrier. */
function refusal(error: unknown, correlationId: string): Response {
  const isRequest = error instanceof RequestError;
  return new Response(JSON.stringify({ error: isRequest ? "malformed request" : "internal error" }), {
    status: isRequest ? 400 : 500,
    headers: { ...ownHeaders(correlationId), "Content-Type": "application/json" },
  });
}

function ownHeaders(correlationId: string): Readonly<Record<string, string>> {
  return { ...SECURITY_HEADERS, [CORRELATION_HEADER]: correlationId };
}
