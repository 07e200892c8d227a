import { BridgeError, orAborted } from "@bridge/ports";
import {
  createInbox,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type PermissionViolationError,
} from "@nats-io/transport-node";
import { withoutMsgId } from "./outbound-headers.ts";
import { type ApiError, apiError } from "./server-error.ts";

/** One message under way. */
interface Pending {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Uint8Array;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly giveUp: () => void;
  /** Of the inbox that its answer comes to; empty until it is written. */
  token: string;
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

const WHAT = "the message was not taken";
const NO_RESPONDERS = 503;

/**
 * Publishes on one connection, and waits for the streams' acknowledgements: as many at a time as are given, each under a
 * token of its own in one inbox. What is given in one turn of the event loop is written together. Nothing of it outlives
 * the connection.
 */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #inbox: string;
  /** By their tokens: written, and without an answer. */
  readonly #pending = new Map<string, Pending>();
  /** Given in this turn. */
  #given = new Set<Pending>();
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
    return this.#given.size + this.#pending.size;
  }

  /** Messages that a stream had already. */
  get duplicates(): number {
    return this.#duplicates;
  }

  /** Resolves when a stream has the message; rejects with a {@link BridgeError}, or the signal's reason. */
  publish(subject: string, payload: Uint8Array, headers: Uint8Array, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(this.#closed);
        return;
      }
      const giveUp = (): void => {
        this.#given.delete(pending);
        if (pending.token !== "") this.#pending.delete(pending.token);
        settle(pending).reject(signal.reason as Error);
      };
      const pending: Pending = { subject, payload, headers, signal, resolve, reject, giveUp, token: "" };
      signal.addEventListener("abort", giveUp);
      if (this.#given.size === 0) setImmediate(() => this.#write());
      this.#given.add(pending);
    });
  }

  /** The server does not let us publish there. */
  denied({ operation, subject }: PermissionViolationError): void {
    if (operation !== "publish") {
      if (subject === `${this.#inbox}*`)
        this.close(
          new BridgeError("FORBIDDEN", "the bridge may not listen for the server's answers: check inbox_prefix"),
        );
      return;
    }
    for (const [token, pending] of this.#pending) {
      if (pending.subject !== subject) continue;
      this.#take(token)?.reject(new BridgeError("FORBIDDEN", `${WHAT}: the bridge may not publish to this subject`));
    }
  }

  /** Nothing is published here any more; what is under way fails. */
  close(error: BridgeError): void {
    if (this.#closed !== undefined) return;
    this.#closed = new BridgeError(error.code, error.message, { cause: error, charged: false });
    for (const pending of this.#given) settle(pending).reject(this.#closed);
    for (const pending of this.#pending.values()) settle(pending).reject(error);
    this.#given.clear();
    this.#pending.clear();
  }

  #write(): void {
    const given = this.#given;
    this.#given = new Set();
    for (const pending of given) {
      const { subject, payload, headers } = pending;
      const token = (this.#tokens++).toString(36);
      try {
        this.#parts.connection.publish(subject, payload, { reply: this.#inbox + token, headers: asWritten(headers) });
        pending.token = token;
        this.#pending.set(token, pending);
      } catch (error) {
        const { message } = error as Error;
        const lost = new BridgeError("CONNECTION_LOST", `${WHAT}: ${message}`, { cause: error, charged: false });
        settle(pending).reject(lost);
      }
    }
  }

  #answered(message: Msg): void {
    const pending = this.#take(message.subject.slice(this.#inbox.length));
    if (pending === undefined) return;
    if (message.data.length === 0 && message.headers?.code === NO_RESPONDERS) {
      void this.#parts.nobody(pending.subject).then(pending.reject);
      return;
    }
    const answer = parse(message);
    if (answer?.error !== undefined) pending.reject(apiError(WHAT, answer.error));
    else if (typeof answer?.stream !== "string" || answer.stream === "" || typeof answer.seq !== "number")
      pending.reject(
        new BridgeError("DESTINATION_NOT_FOUND", `${WHAT}: what answers to this subject is no stream of JetStream`),
      );
    else if (answer.duplicate === true)
      this.#had(pending, answer.stream, answer.seq).then(pending.resolve, pending.reject);
    else pending.resolve();
  }

  /**
   * A stream had a message of this id. It looks at ids alone: what it had may have gone to another of its subjects, for another
   * binding, and then this one is not there.
   */
  async #had({ subject, payload, headers, signal }: Pending, stream: string, sequence: number): Promise<void> {
    const before = await orAborted(this.#parts.subjectOf(stream, sequence), signal);
    signal.throwIfAborted();
    if (before !== undefined && before !== subject) await this.publish(subject, payload, withoutMsgId(headers), signal);
    else this.#duplicates++;
  }

  #take(token: string): Pending | undefined {
    const pending = this.#pending.get(token);
    if (pending === undefined) return undefined;
    this.#pending.delete(token);
    return settle(pending);
  }
}

/** It is about to be resolved or rejected. */
function settle(pending: Pending): Pending {
  pending.signal.removeEventListener("abort", pending.giveUp);
  return pending;
}

interface Answer {
  readonly error?: ApiError;
  readonly stream?: unknown;
  readonly seq?: unknown;
  readonly duplicate?: unknown;
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
function asWritten(headers: Uint8Array): MsgHdrs {
  return { encode: () => headers } as unknown as MsgHdrs;
}
