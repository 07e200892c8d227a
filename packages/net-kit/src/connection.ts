import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ClientMemory, Holder } from "./client-memory.ts";

/** What a request takes up that was read and is not worked on: measured at 1.5 to 2.2 kB, without its body. */
const WAITING_REQUEST_BYTES = 2_048;

/** By the answer that is under way. */
const connections = new WeakMap<ServerResponse, Connection>();

/** What an answer that is made while it is taken has to do with its connection; `undefined` on another carrier. */
export function connectionOf(
  outgoing: ServerResponse | undefined,
): Pick<Connection, "expect" | "room" | "cut"> | undefined {
  return outgoing && connections.get(outgoing);
}

interface WaitingRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly take: RequestListener;
}

/**
 * One open connection of a server. Its requests are worked on one after another: the next one when the answer to the one
 * before has left the process, and while one waits nothing more is read. Otherwise a client that sends requests and reads
 * no answers would have us keep all of them.
 */
export class Connection implements Holder {
  /** What ends it: the TLS socket, once there is one. */
  socket: Socket;
  /** Monotonic milliseconds: when it was opened, or its last request came. */
  since: number;
  /** The response to the request that was worked on last. */
  last: ServerResponse | undefined;
  readonly #accepted: Socket;
  readonly #memory: ClientMemory;
  readonly #onCut: (connection: Connection) => void;
  /** For all of the answer under way. */
  #room: Disposable | undefined;
  #isBusy = false;
  #isLastAnswer = false;
  #waiting: WaitingRequest[] = [];
  /** What was kept at most when a part of an answer was last handed over. */
  #expected = 0;
  /** Since when the client has not taken what was handed over last. */
  #untaken: { readonly written: number; readonly since: number } | undefined;
  readonly #account = (): void => this.#memory.keep(this, this.#kept);
  readonly #onAnswered = (): void => this.#answered();
  readonly #takeNext = (): void => {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#take(next);
  };

  /** `onCut` is called when it is ended because of what is kept for it. */
  constructor(socket: Socket, now: number, memory: ClientMemory, onCut: (connection: Connection) => void) {
    this.socket = socket;
    this.#accepted = socket;
    this.since = now;
    this.#memory = memory;
    this.#onCut = onCut;
  }

  /** Whether an answer waits for a client that does not take it, as far as {@link look} has seen. */
  get isUntaken(): boolean {
    return this.#untaken !== undefined;
  }

  /** Whether requests wait until the answer to the one before has left. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** A request has come: `take` gets it when its turn comes. */
  use(request: WaitingRequest, now: number): void {
    if (this.socket.destroyed || (this.#isLastAnswer && this.#isBusy)) return;
    this.since = now;
    if (!this.#isBusy && !this.hasWaiting) {
      this.#take(request);
      return;
    }
    this.#waiting.push(request);
    this.#account();
  }

  /** A part of the answer under way, of so many bytes, is handed over: it is kept until the client has taken it. */
  expect(bytes: number): void {
    this.#expected = this.socket.writableLength + bytes;
    this.#account();
  }

  /**
   * Resolves when there is room for all of the answer under way, of so many bytes, which is then handed over in parts and not cut
   * for others. Rejects with the reason of `signal`.
   */
  async room(bytes: number, signal: AbortSignal): Promise<void> {
    const room = await this.#memory.room(bytes, signal);
    if (this.socket.destroyed) room[Symbol.dispose]();
    else this.#room = room;
    this.#account();
  }

  /** Looks what the client has taken since the last look; says for how many milliseconds it has taken nothing that waits. */
  look(now: number): number {
    this.#expected = 0;
    this.#account();
    const { writableLength, bytesWritten } = this.socket;
    if (writableLength === 0) this.#untaken = undefined;
    else if (this.#untaken?.written !== bytesWritten) this.#untaken = { written: bytesWritten, since: now };
    return this.#untaken === undefined ? 0 : now - this.#untaken.since;
  }

  /** It ends with the answer under way: the requests that wait behind that are not worked on. */
  endAfterAnswer(): void {
    this.#isLastAnswer = true;
    this.#waiting = [];
    this.#account();
  }

  /** Ends it at once, with all that its client has not taken. */
  cut(): void {
    if (this.socket.destroyed) return;
    this.#onCut(this);
    // Without the reset the system would go on offering the client what it holds.
    if (this.socket === this.#accepted) this.socket.resetAndDestroy();
    else this.socket.destroy();
    this.forget();
  }

  /** Its socket is closed. */
  forget(): void {
    this.#waiting = [];
    this.#leaveRoom();
    this.#memory.keep(this, 0);
  }

  get #kept(): number {
    if (this.socket.destroyed) return 0;
    const written = this.#room === undefined ? Math.max(this.socket.writableLength, this.#expected) : 0;
    return this.hasWaiting
      ? written + this.#waiting.length * WAITING_REQUEST_BYTES + this.socket.readableLength
      : written;
  }

  #take({ incoming, outgoing, take }: WaitingRequest): void {
    this.#isBusy = true;
    this.last = outgoing;
    connections.set(outgoing, this);
    // The whole answer has been written; what the system did not take is kept here.
    outgoing.on("prefinish", this.#account);
    outgoing.on("close", this.#onAnswered);
    take(incoming, outgoing);
  }

  #leaveRoom(): void {
    this.#room?.[Symbol.dispose]();
    this.#room = undefined;
  }

  #answered(): void {
    this.#isBusy = false;
    this.#expected = 0;
    this.#leaveRoom();
    this.#account();
    if (this.#isLastAnswer) {
      this.socket.destroySoon();
      return;
    }
    // Not at once: a connection full of requests would be answered to its end before any other gets a turn.
    if (this.hasWaiting) setImmediate(this.#takeNext);
    else if (this.socket.isPaused()) this.socket.resume();
  }
}
