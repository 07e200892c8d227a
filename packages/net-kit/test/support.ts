import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, type Logger, silentLogger, systemClock } from "@bridge/ports";
import { BoundedServer, type BoundedServerOptions, type ServerLimits } from "../src/index.ts";

const LIMITS: ServerLimits = {
  connections: 100,
  headerSize: 16_384,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 65_000,
  handshakeTimeoutMs: 10_000,
  answerTimeoutMs: 10_000,
};

/** Looks every few milliseconds at what is otherwise looked at every few seconds. */
export const hastyClock: Clock = { ...systemClock, every: (_ms, tick) => systemClock.every(10, tick) };

/** A server on a free port of loopback that answers `ok`, at once unless `take` says otherwise. */
export async function open(
  options: Partial<Omit<BoundedServerOptions, "limits" | "on">> & {
    readonly limits?: Partial<ServerLimits>;
    readonly take?: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
    readonly on?: BoundedServerOptions["on"];
  } = {},
  signal = AbortSignal.timeout(10_000),
): Promise<BoundedServer & { readonly port: number }> {
  const { limits, take = (_incoming, outgoing) => outgoing.end("ok"), on, ...rest } = options;
  const server = await BoundedServer.open(
    {
      host: "127.0.0.1",
      port: 0,
      tls: undefined,
      requireHostHeader: true,
      methods: ["GET"],
      refusalHeaders: () => ({ "X-Own": "yes" }),
      clock: systemClock,
      logger: silentLogger,
      ...rest,
      limits: { ...LIMITS, ...limits },
      on: { request: take, ...on },
    },
    signal,
  );
  return Object.assign(server, { port: server.address.port });
}

/** A connection, and what came over it. */
export async function dial(
  port: number,
  text = "",
): Promise<{ readonly socket: Socket; readonly received: () => string }> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("error", () => {});
  socket.on("data", (bytes: Buffer) => (received += bytes.toString("latin1")));
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return { socket, received: () => received };
}

export function ended(socket: Socket): Promise<unknown> {
  return socket.closed ? Promise.resolve() : once(socket, "close");
}

/** The name that the server's certificate has, on a connection of its own. */
export function nameOfServer(port: number, options: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const made = request({ port, host: "localhost", family: 4, agent: false, ...options }, (response) => {
      const name = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
      response.resume().on("end", () => resolve([name].flat().join(" ")));
    });
    made.on("error", reject).end();
  });
}

/** Keeps what is logged, as `level: message`. */
export function keepingLogger(): Logger & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const line = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const logger: Logger = { ...silentLogger, info: line("info"), error: line("error"), child: () => logger };
  return Object.assign(logger, { lines });
}
