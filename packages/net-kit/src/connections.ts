import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@bridge/ports";

interface Connection {
  /** What ends it: the TLS socket, once there is one. */
  socket: Socket;
  /** Monotonic milliseconds: when it was opened, or its last request came. */
  since: number;
  /** The response to its last request. */
  last: ServerResponse | undefined;
}

/** Of the connections that could make room, this part is ranked at once, so that a flood does not rank them all each time. */
const RANKED_PART = 10;

/**
 * The open connections of one server, at most so many. When there are that many, a new one takes the place of the one
 * that has been without a request for longest; else of one whose request has not arrived in full. A request that has is
 * never cut for it: when every connection has one, the new one is ended.
 *
 * Nothing but an assignment happens for each request.
 */
export class Connections {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #open = new Map<Socket, Connection>();
  /** TLS connections before their handshake is done, by their ends. */
  readonly #handshaking = new Map<string, Connection>();
  /** The next ones to end, the first of them last, with what they were when they were ranked. */
  #ranked: { readonly connection: Connection; readonly since: number }[] = [];
  #ended = 0;
  #refused = 0;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
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

  add(socket: Socket, handshakes: boolean): void {
    if (this.#open.size >= this.#limit && !this.#makeRoom()) {
      this.#refused++;
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, since: this.#clock.monotonic(), last: undefined };
    const ends = endsOf(socket);
    this.#open.set(socket, connection);
    if (handshakes) this.#handshaking.set(ends, connection);
    socket.once("close", () => {
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
    socket.once("close", () => this.#open.delete(socket));
  }

  /** A request has come. */
  use(socket: Socket, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.since = this.#clock.monotonic();
    connection.last = response;
  }

  /** The response to the last request that came over `socket`. */
  lastOf(socket: object): ServerResponse | undefined {
    return this.#open.get(socket as Socket)?.last;
  }

  /** Ends those over which nothing was ever sent: to the platform's server they are not idle. */
  endUnused(): void {
    for (const { socket, last } of this.#open.values())
      if (last === undefined && socket.bytesRead === 0) socket.destroy();
    for (const { socket } of this.#handshaking.values()) socket.destroy();
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

/** 0: nothing is under way. 1: a request that has not arrived in full. 2: one that has. */
function place({ last }: Connection): 0 | 1 | 2 {
  if (last === undefined || last.writableFinished || last.destroyed) return 0;
  return last.req.complete ? 2 : 1;
}

/** Tells one connection of a server from its others. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
