import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@bridge/ports";
import type { ClientMemory } from "./client-memory.ts";
import { Connection } from "./connection.ts";
import { CutLines } from "./cut-lines.ts";
import { readInSlices } from "./read-in-slices.ts";

/** Of the connections that could make room, this part is ranked at once, so that a flood does not rank them all each time. */
const RANKED_PART = 10;

/**
 * The open connections of one server, at most so many. When there are that many, a new one takes the place of the one
 * that has been without a request for longest; else of one whose request has not arrived in full, or whose client does not
 * take its answer. A request that has is never cut for it: when every connection has one, the new one is ended.
 */
export class Connections {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #memory: ClientMemory;
  readonly #cutLines: CutLines;
  readonly #open = new Map<Socket, Connection>();
  /** TLS connections before their handshake is done, by their ends. */
  readonly #handshaking = new Map<string, Connection>();
  /** The next ones to end, the first of them last, with what they were when they were ranked. */
  #ranked: { readonly connection: Connection; readonly since: number }[] = [];
  #ended = 0;
  #refused = 0;
  #cut = 0;
  readonly #onCut = (connection: Connection): void => {
    this.#cut++;
    this.#cutLines.tell(connection.last?.req.url);
  };

  constructor(limit: number, clock: Clock, memory: ClientMemory, logger: Logger) {
    this.#limit = limit;
    this.#clock = clock;
    this.#memory = memory;
    this.#cutLines = new CutLines(logger, clock);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Connections that were ended for newer ones, so far. */
  get ended(): number {
    return this.#ended;
  }

  /** New connections for which there was no room, so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Connections that were ended because their clients did not take their answers, so far. */
  get cut(): number {
    return this.#cut;
  }

  add(socket: Socket, handshakes: boolean): void {
    if (this.#open.size >= this.#limit && !this.#makeRoom()) {
      this.#refused++;
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this.#clock.monotonic(), this.#memory, this.#onCut);
    const ends = endsOf(socket);
    this.#open.set(socket, connection);
    if (handshakes) this.#handshaking.set(ends, connection);
    else readInSlices(socket, () => connection.hasWaiting);
    closeWithoutStacks(socket);
    socket.once("close", () => {
      connection.forget();
      this.#open.delete(socket);
      if (connection.socket !== socket) this.#open.delete(connection.socket);
      if (this.#handshaking.get(ends) === connection) this.#handshaking.delete(ends);
    });
  }

  /** The handshake of a connection that was added is done; requests will come over `socket`. */
  secured(socket: Socket): void {
    const ends = endsOf(socket);
    const connection = this.#handshaking.get(ends);
    if (connection === undefined) return;
    this.#handshaking.delete(ends);
    this.#open.delete(connection.socket);
    connection.socket = socket;
    this.#open.set(socket, connection);
    readInSlices(socket, () => connection.hasWaiting);
    closeWithoutStacks(socket);
    socket.once("close", () => {
      connection.forget();
      this.#open.delete(socket);
    });
  }

  /** A request has come: `take` gets it when those before it on its connection are answered. */
  use(incoming: IncomingMessage, outgoing: ServerResponse, take: RequestListener): void {
    this.#open.get(incoming.socket)?.use({ incoming, outgoing, take }, this.#clock.monotonic());
  }

  /** The response to the last request that came over `socket`; `"waiting"` while that is not worked on yet. */
  lastOf(socket: object): ServerResponse | "waiting" | undefined {
    const connection = this.#open.get(socket as Socket);
    return connection?.hasWaiting === true ? "waiting" : connection?.last;
  }

  /** Cuts those whose clients have taken nothing of what waits for them for `limitMs`. */
  cutUntaken(limitMs: number): void {
    const now = this.#clock.monotonic();
    for (const connection of this.#open.values()) if (connection.look(now) >= limitMs) connection.cut();
  }

  /** Ends those over which nothing was ever sent: to the platform's server they are not idle. */
  endUnused(): void {
    for (const { socket, last } of this.#open.values())
      if (last === undefined && socket.bytesRead === 0) socket.destroy();
    for (const { socket } of this.#handshaking.values()) socket.destroy();
  }

  /** Each ends with the answer under way. Who has sent many requests at once would hold up the end of the server with all of them. */
  endAfterAnswers(): void {
    for (const connection of this.#open.values()) connection.endAfterAnswer();
  }

  /**
   * To the platform a connection is idle once the last byte of its answer was handed over, and it would cut what the client has still
   * to take. While `close` runs, those stay.
   */
  sparingUnread(close: () => void): void {
    const unread = [...this.#open.keys()].filter(({ writableLength }) => writableLength > 0);
    for (const socket of unread) socket.destroy = () => socket;
    try {
      close();
    } finally {
      for (const socket of unread) Reflect.deleteProperty(socket, "destroy");
    }
  }

  endAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #makeRoom(): boolean {
    const next = this.#nextRanked() ?? (this.#rank(), this.#nextRanked());
    if (next === undefined) return false;
    this.#ended++;
    this.#open.delete(next.socket);
    next.socket.destroy();
    return true;
  }

  #nextRanked(): Connection | undefined {
    for (;;) {
      const next = this.#ranked.pop();
      if (next === undefined) return undefined;
      const { connection, since } = next;
      if (this.#open.get(connection.socket) === connection && connection.since === since && place(connection) < 2)
        return connection;
    }
  }

  #rank(): void {
    this.#ranked = [...this.#open.values()]
      .map((connection) => ({ connection, since: connection.since, place: place(connection) }))
      .filter((ranked) => ranked.place < 2)
      .toSorted((a, b) => a.place - b.place || a.since - b.since)
      .slice(0, Math.ceil(this.#limit / RANKED_PART))
      .toReversed();
  }
}

/** 0: nothing is under way. 1: a request that has not arrived in full, or an answer that is not taken. 2: one that is worked on. */
function place({ last, isUntaken }: Connection): 0 | 1 | 2 {
  if (last === undefined || last.writableFinished || last.destroyed) return 0;
  return last.req.complete && !isUntaken ? 2 : 1;
}

/** Tells one connection of a server from its others. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/**
 * The platform makes an error for each request that was read and not answered when its connection closes, with a stack that
 * nobody sees: of a client that had sent a thousand, these took most of the time. Its listener is there already, so one of
 * ours comes before it, and one behind.
 */
function closeWithoutStacks(socket: Socket): void {
  let { stackTraceLimit } = Error;
  socket.prependOnceListener("close", () => {
    ({ stackTraceLimit } = Error);
    Error.stackTraceLimit = 0;
  });
  socket.once("close", () => void (Error.stackTraceLimit = stackTraceLimit));
}
