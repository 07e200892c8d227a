import { type Abortable, BridgeError, unwatchAbort, watchAbort } from "@bridge/ports";
import { orAborted, SequenceMap } from "@bridge/ports/internal";
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { statusOf, wireMessage } from "./header-block.ts";
import { withoutMsgId } from "./outbound-headers.ts";
import { type ApiError, apiError } from "./server-error.ts";

export interface Publication {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Uint8Array;
  /** The one that must take it, as its headers say too. Absent: any stream. */
  readonly stream: string | undefined;
}

/** One message under way. */
interface Pending extends Abortable {
  /** Of the inbox that its answer comes to. */
  readonly token: number;
  readonly publication: Publication;
  written: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface PublisherParts {
  readonly connection: NatsConnection;
  readonly inboxPrefix: string;
  /** Why nobody takes what is published to a subject. */
  readonly nobody: (subject: string) => Promise<BridgeError>;
  /**
   * The subject of a message that a stream has; `undefined` when that cannot be known.
   *
   * @throws BridgeError of class transient when the stream could not be asked
   */
  readonly subjectOf: (stream: string, sequence: number) => Promise<string | undefined>;
}

const MAX_SHOWN = 200;
const WHAT = "the message was not taken";
const NO_RESPONDERS = 503;
/** How tokens are written. */
const RADIX = 36;

/**
 * Publishes on one connection, and waits for the streams' acknowledgements: as many at a time as are given, each under a
 * token of its own in one inbox. What is given in one turn of the event loop is written together. Nothing of it outlives
 * the connection.
 */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #inbox: string;
  /** By their tokens: without an answer. */
  readonly #pending = new SequenceMap<Pending>();
  /** In this turn. What is not pending any more when it ends is not written. */
  #given: Pending[] = [];
  #tokens = 0;
  #duplicates = 0;
  #closed: BridgeError | undefined;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    this.#inbox = `${createInbox(parts.inboxPrefix)}.`;
    parts.connection.subscribe(`${this.#inbox}*`, {
      callback: (error, message) => {
        if (error === null) this.#answered(message);
      },
    });
  }

  get unanswered(): number {
    return this.#pending.size;
  }

  /** Messages that a stream had already. */
  get duplicates(): number {
    return this.#duplicates;
  }

  /** Resolves when a stream has the message; rejects with a {@link BridgeError}, or the signal's reason. */
  publish(publication: Publication, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(this.#closed);
        return;
      }
      const pending: Pending = {
        token: this.#tokens++,
        publication,
        signal,
        written: false,
        resolve,
        reject,
        onAbort: () => this.#take(pending.token)?.reject(signal.reason as Error),
      };
      watchAbort(pending);
      this.#pending.set(pending.token, pending);
      if (this.#given.push(pending) === 1) setImmediate(() => this.#write());
    });
  }

  /** Where it listens for answers. */
  get answersTo(): string {
    return `${this.#inbox}*`;
  }

  /** The server does not let us publish there. */
  denied(subject: string): void {
    for (const [token, pending] of this.#pending.entries()) {
      if (!pending.written || pending.publication.subject !== subject) continue;
      this.#take(token)?.reject(new BridgeError("FORBIDDEN", `${WHAT}: the bridge may not publish to this subject`));
    }
  }

  /** Nothing is published here any more; what is under way fails. */
  close(error: BridgeError): void {
    if (this.#closed !== undefined) return;
    this.#closed = new BridgeError(error.code, error.message, { cause: error, charged: false });
    // What was not written was not tried.
    for (const [token, { written }] of this.#pending.entries())
      this.#take(token)?.reject(written ? error : this.#closed);
  }

  #write(): void {
    const given = this.#given;
    this.#given = [];
    for (const pending of given) {
      if (!this.#pending.has(pending.token)) continue;
      const { subject, payload, headers } = pending.publication;
      const reply = this.#inbox + pending.token.toString(RADIX);
      try {
        this.#parts.connection.publish(subject, payload, { reply, headers: asWritten(headers) });
        pending.written = true;
      } catch (error) {
        const { message } = error as Error;
        const lost = new BridgeError("CONNECTION_LOST", `${WHAT}: ${message}`, { cause: error, charged: false });
        this.#take(pending.token)?.reject(lost);
      }
    }
  }

  #answered(message: Msg): void {
    const pending = this.#take(Number.parseInt(message.subject.slice(this.#inbox.length), RADIX));
    if (pending === undefined) return;
    if (message.data.length === 0 && statusOf(wireMessage(message))?.code === NO_RESPONDERS) {
      orAborted(this.#parts.nobody(pending.publication.subject), pending.signal).then(pending.reject, pending.reject);
      return;
    }
    const answer = parse(message);
    const { stream, seq, duplicate, error } = answer ?? {};
    if (error !== undefined) pending.reject(apiError(WHAT, error));
    else if (typeof stream !== "string" || stream === "" || !isPlace(seq))
      pending.reject(notTaken("what answers to this subject is no stream of JetStream"));
    else if (stream !== (pending.publication.stream ?? stream))
      // The server says so itself: this is somebody else's answer.
      pending.reject(
        notTaken(`it was answered by "${stream.slice(0, MAX_SHOWN)}", and not by "${pending.publication.stream}"`),
      );
    else if (duplicate === true) this.#had(pending, stream, seq).then(pending.resolve, pending.reject);
    else pending.resolve();
  }

  /**
   * A stream had a message of this id. It looks at ids alone: what it had may have gone to another of its subjects, for another
   * binding, and then this one is not there.
   */
  async #had({ publication, signal }: Pending, stream: string, sequence: number): Promise<void> {
    const before = await orAborted(this.#parts.subjectOf(stream, sequence), signal);
    signal.throwIfAborted();
    if (before === undefined || before === publication.subject) this.#duplicates++;
    else await this.publish({ ...publication, headers: withoutMsgId(publication.headers) }, signal);
  }

  /** It is about to be resolved or rejected. */
  #take(token: number): Pending | undefined {
    const pending = this.#pending.take(token);
    if (pending !== undefined) unwatchAbort(pending);
    return pending;
  }
}

interface Answer {
  readonly error?: ApiError;
  readonly stream?: unknown;
  readonly seq?: unknown;
  readonly duplicate?: unknown;
}

function notTaken(why: string): BridgeError {
  return new BridgeError("DESTINATION_NOT_FOUND", `${WHAT}: ${why}`);
}

function isPlace(seq: unknown): seq is number {
  return typeof seq === "number" && seq > 0;
}

function parse(message: Msg): Answer | undefined {
  try {
    const answer: unknown = JSON.parse(message.string());
    return typeof answer === "object" && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The library takes headers and asks them for nothing but their bytes. */
function asWritten(bytes: Uint8Array): MsgHdrs {
  return new WrittenHeaders(bytes) as unknown as MsgHdrs;
}

class WrittenHeaders {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  encode(): Uint8Array {
    return this.#bytes;
  }
}
