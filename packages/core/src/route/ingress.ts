import {
  BridgeError,
  type Clock,
  type Envelope,
  isReserved,
  type MessageHeaders,
  newHeaders,
  type Random,
  RESERVED,
  type SourceMessage,
} from "@bridge/ports";
import { HalfCharacters, headerName } from "./half-characters.ts";
import { isHeaders, isTime, mendMessage } from "./mend-message.ts";
import { soundPayload } from "./sound-payload.ts";

/** Limits on a message apart from its payload, whose size the transport bounds. */
export const INGRESS_LIMITS = {
  headers: 256,
  /** Names and values together, in UTF-16 code units. */
  headerSize: 65_536,
  subjectLength: 65_536,
  contentTypeLength: 65_536,
  idLength: 1_024,
} as const;

/** How many left-out headers an error names, and with how many characters each. */
const [NAMED, NAME_LENGTH] = [5, 100];

export interface IngressContext {
  readonly sourceId: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The envelope, and what is wrong with the message, if anything: the envelope then holds as much of it as may be kept. */
export interface Ingress {
  readonly envelope: Envelope;
  readonly error: BridgeError | undefined;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const NO_HEADERS: MessageHeaders = Object.freeze(newHeaders());
const GENERATED_ONLY: MessageHeaders = Object.freeze(Object.assign(newHeaders(), { [RESERVED.generatedId]: "true" }));

/**
 * Makes an envelope of what a source or an inject hands over: lower-cases header names, drops reserved ones in any
 * letter case (spec 4.4.1, 4.6.4), bounds sizes, and mints and marks an id when there is no stable one. Never throws:
 * of a message that does not match its type, it keeps what it can.
 */
export function normalise(message: SourceMessage, context: IngressContext): Ingress {
  const ingress = ingressOf(message, context);
  if (ingress !== undefined) return ingress;
  const mended = mendMessage(message);
  const kept = ingressOf(mended.message, context);
  if (kept === undefined) throw new Error("a message that was mended is not what it should be");
  return { envelope: kept.envelope, error: mended.error };
}

/** `undefined` when the message does not match its type: a source may be any JavaScript. */
function ingressOf(message: SourceMessage, context: IngressContext): Ingress | undefined {
  try {
    return read(message, context);
  } catch {
    return undefined;
  }
}

/** Reads each part of the message once. Throws or returns `undefined` if the message does not match its type. */
function read(message: SourceMessage, context: IngressContext): Ingress | undefined {
  let error: BridgeError | undefined;
  let { id = "", subject, dedupId, orderingKey, correlationId = "" } = message;
  let { contentType = "" } = message;
  const { headers: given, expiresAt } = message;
  const payload = soundPayload(message.payload);
  if (payload === undefined || !isTime(expiresAt)) return undefined;
  if (typeof id !== "string" || typeof subject !== "string" || typeof correlationId !== "string") return undefined;
  if (typeof contentType !== "string" || !isText(dedupId) || !isText(orderingKey)) return undefined;
  if (dedupId === "") dedupId = undefined;
  if (orderingKey === "") orderingKey = undefined;
  if (id === "" && dedupId !== undefined) id = dedupId;

  const longest = Math.max(id.length, dedupId?.length ?? 0, orderingKey?.length ?? 0, correlationId.length);
  if (longest > INGRESS_LIMITS.idLength) {
    error = tooLarge(longName({ id, dedupId, orderingKey, correlationId }), INGRESS_LIMITS.idLength);
    // A truncated identity could be another message's. An ordering key that fits stays, because younger messages queue
    // behind it.
    if (isLong(id)) id = "";
    if (isLong(dedupId)) dedupId = undefined;
    if (isLong(orderingKey)) orderingKey = undefined;
    if (isLong(correlationId)) correlationId = correlationId.slice(0, INGRESS_LIMITS.idLength).toWellFormed();
  }
  if (subject.length > INGRESS_LIMITS.subjectLength) {
    error = tooLarge("the subject", INGRESS_LIMITS.subjectLength);
    subject = subject.slice(0, INGRESS_LIMITS.subjectLength).toWellFormed();
  }
  if (contentType.length > INGRESS_LIMITS.contentTypeLength) {
    error = tooLarge("the content type", INGRESS_LIMITS.contentTypeLength);
    contentType = contentType.slice(0, INGRESS_LIMITS.contentTypeLength).toWellFormed();
  }
  const whole =
    id.isWellFormed() &&
    subject.isWellFormed() &&
    contentType.isWellFormed() &&
    correlationId.isWellFormed() &&
    dedupId?.isWellFormed() !== false &&
    orderingKey?.isWellFormed() !== false;
  if (!whole) {
    error = halved({ id, subject, contentType, correlationId, dedupId, orderingKey });
    // A mended identity could be another message's.
    if (!id.isWellFormed()) id = "";
    if (dedupId?.isWellFormed() === false) dedupId = undefined;
    if (orderingKey?.isWellFormed() === false) orderingKey = undefined;
    subject = subject.toWellFormed();
    contentType = contentType.toWellFormed();
    correlationId = correlationId.toWellFormed();
  }

  const generated = id === "";
  if (generated) id = context.random.id();
  let headers = generated ? GENERATED_ONLY : NO_HEADERS;
  if (given !== undefined || dedupId !== undefined || orderingKey !== undefined) {
    const own = newHeaders();
    const copied = copyHeaders(given, own);
    if (copied === "not texts") return undefined;
    error = copied ?? error;
    if (generated) own[RESERVED.generatedId] = "true";
    if (dedupId !== undefined) own[RESERVED.dedupId] = dedupId;
    if (orderingKey !== undefined) own[RESERVED.orderingKey] = orderingKey;
    headers = own;
  }

  const envelope: Mutable<Envelope> = {
    id,
    sourceId: context.sourceId,
    subject,
    contentType,
    headers,
    payload,
    correlationId: correlationId === "" ? id : correlationId,
    receivedAt: context.clock.now(),
  };
  if (expiresAt !== undefined) envelope.expiresAt = expiresAt;
  return { envelope, error };
}

const ID_NAMES = {
  id: "the id",
  dedupId: "the deduplication id",
  orderingKey: "the ordering key",
  correlationId: "the correlation id",
} as const;

/** The name of the first text that is too long. */
function longName(texts: Readonly<Record<keyof typeof ID_NAMES, string | undefined>>): string {
  const keys = Object.keys(ID_NAMES) as (keyof typeof ID_NAMES)[];
  return ID_NAMES[keys.find((key) => isLong(texts[key])) ?? "id"];
}

function isLong(text: string | undefined): boolean {
  return text !== undefined && text.length > INGRESS_LIMITS.idLength;
}

/**
 * Copies the headers that may come in, and leaves out those beyond the limits; returns that error, or whatever else was
 * wrong.
 */
function copyHeaders(
  from: SourceMessage["headers"],
  to: Record<string, string>,
): BridgeError | "not texts" | undefined {
  if (from === undefined) return undefined;
  if (!isHeaders(from)) return "not texts";
  let count = 0;
  let size = 0;
  let leftOut: LeftOut | undefined;
  let halves: HalfCharacters | undefined;
  for (let name in from) {
    let value = from[name];
    if (value === undefined || isReserved(name)) continue;
    if (typeof value !== "string") return "not texts";
    const itsSize = name.length + value.length;
    if (count === INGRESS_LIMITS.headers || size + itsSize > INGRESS_LIMITS.headerSize) {
      (leftOut ??= new LeftOut(count === INGRESS_LIMITS.headers)).add(name);
      continue;
    }
    count++;
    size += itsSize;
    if (!value.isWellFormed() || !name.isWellFormed()) {
      (halves ??= new HalfCharacters()).add(headerName(name));
      [name, value] = [name.toWellFormed(), value.toWellFormed()];
    }
    const lower = name.toLowerCase();
    const before = to[lower];
    to[lower] = before === undefined ? value : `${before}, ${value}`;
  }
  return leftOut?.error() ?? halves?.error();
}

function halved(texts: Readonly<Record<string, string | undefined>>): BridgeError {
  const halves = new HalfCharacters();
  for (const [name, text] of Object.entries(texts)) if (text?.isWellFormed() === false) halves.add(name);
  return halves.error();
}

/** The headers that did not fit: the reader of the dead letter must know what it lacks. */
class LeftOut {
  /** Whether there were too many headers when the first was left out, rather than too large ones. */
  readonly #many: boolean;
  readonly #names: string[] = [];
  #count = 0;

  constructor(many: boolean) {
    this.#many = many;
  }

  add(name: string): void {
    this.#count++;
    if (this.#names.length < NAMED) this.#names.push(name.slice(0, NAME_LENGTH));
  }

  error(): BridgeError {
    const [what, limit] = this.#many
      ? ["the number of headers", INGRESS_LIMITS.headers]
      : ["the size of the headers", INGRESS_LIMITS.headerSize];
    const rest = this.#count - this.#names.length;
    const names = `${this.#names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
    return tooLarge(what, limit, `; left out: ${names}`);
  }
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function tooLarge(what: string, limit: number, consequence = ""): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `${what} of the message is above the limit of ${limit}${consequence}`);
}

/** Why a message that its adapter could not decode is refused, however the adapter classified it. */
export function undecodable(told: BridgeError): BridgeError {
  const error = BridgeError.from(told);
  return error.class === "rejected" ? error : new BridgeError("INVALID_PAYLOAD", error.message, { cause: error });
}
