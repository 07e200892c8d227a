import {
  type AcceptedOutcome,
  BridgeError,
  type CodePayload,
  type EncodedPayload,
  newHeaders,
  type SourceMessage,
} from "@bridge/ports";
import { kindOf } from "@bridge/ports/internal";
import { messageOf } from "./failure.ts";
import { payloadLeft, writtenPayload } from "./written-payload.ts";

/** A message that a source yields. */
export interface SourceItem {
  /** Text, bytes or a JSON value. A JSON value gets the content type `application/json`, unless there is another one. */
  readonly payload: CodePayload;
  /** The stable identity of the message, by which repeats are known. Default: `dedupId`; without one the bridge makes one. */
  readonly id?: string | undefined;
  /** Default: the name of the source. */
  readonly subject?: string | undefined;
  /** Those that begin with `x-bridge.` belong to the bridge, and are left out. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Messages with one key are handled one after another. */
  readonly key?: string | undefined;
  /** MIME type of the payload. */
  readonly contentType?: string | undefined;
  readonly correlationId?: string | undefined;
  /** By which targets recognise repeats, when it differs from `id`. */
  readonly dedupId?: string | undefined;
  /** Later than this the message is not sent: epoch milliseconds. */
  readonly expiresAt?: number | undefined;
  /**
   * Called once, when the message may be forgotten, with what became of it. Never called for a message that was still under
   * way when the bridge ended. A promise that it returns holds the message's place in `max_in_flight`, for ten seconds at most.
   */
  readonly settled?: ((outcome: AcceptedOutcome) => unknown) | undefined;
}

/** A message of a source, as it was read when it was yielded. */
export interface Yielded {
  readonly message: SourceMessage;
  /** What was wrong with it. */
  readonly undecodable: BridgeError | undefined;
  readonly settled: ((outcome: AcceptedOutcome) => unknown) | undefined;
}

const TEXTS = ["id", "subject", "key", "contentType", "correlationId", "dedupId"] as const;
const NO_BYTES = new Uint8Array();
/** More would only make the sentence long. */
const MAX_FAULTS = 5;
const MAX_NAME = 100;

/** Reads what `who` yielded, which may be anything and may throw when it is looked at. Never throws. */
export function readYielded(who: string, name: string, item: unknown): Yielded {
  if (!isItem(item)) {
    return {
      message: { subject: name, payload: payloadLeft(item) },
      undecodable: unreadable(who, [`it is ${kindOf(item)}, not an object with a payload`], undefined),
      settled: undefined,
    };
  }
  return new Reading(item).yielded(who, name);
}

function isItem(item: unknown): item is object {
  try {
    return typeof item === "object" && item !== null && !Array.isArray(item) && !ArrayBuffer.isView(item);
  } catch {
    // A proxy that was revoked.
    return false;
  }
}

/** Reads each member once, and remembers what was wrong. */
class Reading {
  readonly #item: object;
  readonly #faults: string[] = [];
  #cause: unknown;

  constructor(item: object) {
    this.#item = item;
  }

  yielded(who: string, name: string): Yielded {
    const [id, subject, orderingKey, contentType, correlationId, dedupId] = TEXTS.map((field) => this.#text(field));
    const encoded = this.#payload();
    const message: SourceMessage = {
      id,
      subject: subject ?? name,
      payload: encoded.payload,
      headers: this.#headers(),
      contentType: contentType ?? encoded.contentType,
      correlationId,
      dedupId,
      orderingKey,
      expiresAt: this.#expiry(),
    };
    const settled = this.#settled();
    const undecodable = this.#faults.length === 0 ? undefined : unreadable(who, this.#faults, this.#cause);
    return { message, undecodable, settled };
  }

  #read(field: string): unknown {
    try {
      return (this.#item as Readonly<Record<string, unknown>>)[field];
    } catch (thrown) {
      this.#fault(`${field} cannot be read: ${messageOf(thrown)}`, thrown);
      return undefined;
    }
  }

  #fault(fault: string, cause?: unknown): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
    this.#cause ??= cause;
  }

  #text(field: string): string | undefined {
    const value = this.#read(field);
    if (value === undefined || typeof value === "string") return value;
    this.#fault(`${field} is ${kindOf(value)}, not a text`);
    return undefined;
  }

  #payload(): EncodedPayload {
    let value: unknown;
    try {
      ({ payload: value } = this.#item as { readonly payload?: unknown });
    } catch (thrown) {
      this.#fault(`payload cannot be read: ${messageOf(thrown)}`, thrown);
      return { payload: NO_BYTES };
    }
    try {
      return writtenPayload(value);
    } catch (thrown) {
      this.#fault(messageOf(thrown), thrown);
      return { payload: payloadLeft(value) };
    }
  }

  #headers(): SourceMessage["headers"] {
    const headers = this.#read("headers");
    if (headers === undefined) return undefined;
    const copy = newHeaders();
    try {
      if (typeof headers !== "object" || headers === null || Symbol.iterator in headers) {
        this.#fault(`headers are ${kindOf(headers)}, not an object of texts`);
        return undefined;
      }
      for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
        if (typeof value === "string") copy[name] = value;
        else if (value !== undefined)
          this.#fault(`header ${JSON.stringify(name.slice(0, MAX_NAME))} is ${kindOf(value)}, not a text`);
      }
    } catch (thrown) {
      this.#fault(`headers cannot be read: ${messageOf(thrown)}`, thrown);
    }
    return copy;
  }

  #expiry(): number | undefined {
    const value = this.#read("expiresAt");
    if (value === undefined || (typeof value === "number" && !Number.isNaN(value))) return value;
    this.#fault(`expiresAt is ${typeof value === "number" ? "NaN" : kindOf(value)}, not a time in epoch milliseconds`);
    return undefined;
  }

  #settled(): Yielded["settled"] {
    const item = this.#item;
    const value = this.#read("settled");
    if (value === undefined) return undefined;
    if (typeof value === "function") return (outcome): unknown => Reflect.apply(value, item, [outcome]);
    this.#fault(`settled is ${kindOf(value)}, not a function`);
    return undefined;
  }
}

function unreadable(who: string, faults: readonly string[], cause: unknown): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `what ${who} yielded is no message: ${faults.join("; ")}`, {
    ...(cause !== undefined && { cause }),
  });
}
