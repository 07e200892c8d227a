import { carriedHeaders, type Envelope, newHeaders, RESERVED } from "@bridge/ports";
import { PermanentError } from "./permanent-error.ts";

/** A mark at the beginning is a part of what was received. */
const text = new TextDecoder("utf-8", { ignoreBOM: true });
const strictText = new TextDecoder("utf-8", { fatal: true });

/**
 * A message, as a handler gets it. It is a copy: what a handler changes in it changes nothing for others, nor for the next
 * attempt.
 */
export class FunctionMessage {
  /** The same for each attempt. Repeats of a source bear it, too, if the source has stable ids. */
  readonly id: string;
  readonly subject: string;
  /** MIME type of the payload; empty when the source named none. */
  readonly contentType: string;
  /** The source's correlation id, else the message's id. */
  readonly correlationId: string;
  /** Messages with one key are handled one after another. */
  readonly key: string | undefined;
  /** By which targets recognise repeats, where the source has one besides the id. */
  readonly dedupId: string | undefined;
  /** Which attempt this is, from 1 on: as many are made as `max_replay_attempts` says. */
  readonly attempt: number;
  /** When the bridge took it, in epoch milliseconds. */
  readonly receivedAt: number;
  /** Later than this it is not handled any more: epoch milliseconds. */
  readonly expiresAt: number | undefined;
  readonly #envelope: Envelope;
  #payload: Uint8Array | undefined;
  #headers: Record<string, string> | undefined;

  constructor(envelope: Envelope, attempt: number) {
    this.id = envelope.id;
    this.subject = envelope.subject;
    this.contentType = envelope.contentType;
    this.correlationId = envelope.correlationId;
    this.key = envelope.headers[RESERVED.orderingKey];
    this.dedupId = envelope.headers[RESERVED.dedupId];
    this.attempt = attempt;
    this.receivedAt = envelope.receivedAt;
    this.expiresAt = envelope.expiresAt;
    this.#envelope = envelope;
  }

  /** The bytes. Copied when they are first asked for: {@link text} and {@link json} need no copy. */
  get payload(): Uint8Array {
    return (this.#payload ??= new Uint8Array(this.#envelope.payload));
  }

  set payload(payload: Uint8Array) {
    this.#payload = payload;
  }

  /** By name, in lower case. Of the bridge's own there is `x-bridge.causation-id`, on what was redriven. */
  get headers(): Record<string, string> {
    return (this.#headers ??= copyOf(this.#envelope));
  }

  set headers(headers: Record<string, string>) {
    this.#headers = headers;
  }

  /** The payload as text in UTF-8, as it was received. */
  text(): string {
    return text.decode(this.#envelope.payload);
  }

  /**
   * The payload as JSON, as it was received. Nothing looks whether it is a `T`: a schema does, given to `handler`.
   * @throws PermanentError `INVALID_PAYLOAD` when it is no JSON in UTF-8
   */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what callers write instead of a cast
  json<T = unknown>(): T {
    try {
      return JSON.parse(strictText.decode(this.#envelope.payload)) as T;
    } catch {
      // What a parser says quotes the payload.
      throw new PermanentError("INVALID_PAYLOAD", "the payload is not JSON in UTF-8");
    }
  }

  /** What `console.log` shows: the payload and the headers are not there as members. */
  [Symbol.for("nodejs.util.inspect.custom")](): object {
    return { ...Object.fromEntries(Object.entries(this)), headers: this.headers, payload: this.payload };
  }
}

function copyOf(envelope: Envelope): Record<string, string> {
  const copy = newHeaders();
  for (const [name, value] of carriedHeaders(envelope.headers)) copy[name] = value;
  return copy;
}
