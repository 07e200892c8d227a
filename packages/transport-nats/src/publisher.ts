import { BridgeError } from "@bridge/ports";
import {
  createInbox,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type PermissionViolationError,
} from "@nats-io/transport-node";
import { type ApiError, apiError } from "./server-error.ts";

/** One message under way. */
interface Pending {
  readonly subject: string;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly giveUp: () => void;
}

export interface PublisherParts {
  readonly connection: NatsConnection;
  readonly inboxPrefix: string;
  /** Why nobody takes what is published to a subject. */
  readonly nobody: (subject: string) => Promise<BridgeError>;
}

const WHAT = "the message was not taken";
const NO_RESPONDERS = 503;

/**
 * Publishes on one connection, and waits for the streams' acknowledgements: as many at a time as are given, each under a
 * token of its own in one inbox. Nothing of it outlives the connection.
 */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #inbox: string;
  readonly #pending = new Map<string, Pending>();
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
  publish(subject: string, payload: Uint8Array, headers: Uint8Array, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(this.#closed);
        return;
      }
      const token = (this.#tokens++).toString(36);
      const giveUp = (): void => {
        this.#take(token);
        reject(signal.reason as Error);
      };
      this.#pending.set(token, { subject, signal, resolve, reject, giveUp });
      signal.addEventListener("abort", giveUp);
      try {
        this.#parts.connection.publish(subject, payload, { reply: this.#inbox + token, headers: asWritten(headers) });
      } catch (error) {
        this.#take(token);
        const { message } = error as Error;
        reject(new BridgeError("CONNECTION_LOST", `${WHAT}: ${message}`, { cause: error, charged: false }));
      }
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
    for (const token of this.#pending.keys()) this.#take(token)?.reject(error);
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
    else {
      if (answer.duplicate === true) this.#duplicates++;
      pending.resolve();
    }
  }

  #take(token: string): Pending | undefined {
    const pending = this.#pending.get(token);
    if (pending === undefined) return undefined;
    this.#pending.delete(token);
    pending.signal.removeEventListener("abort", pending.giveUp);
    return pending;
  }
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
