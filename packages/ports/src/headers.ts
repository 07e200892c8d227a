/** Header names are lower case. Names under {@link RESERVED_PREFIX} belong to the bridge and are stripped at every ingress. */
export type MessageHeaders = Readonly<Record<string, string>>;

/** What makes {@link newHeaders}: its objects inherit from an object without a member. */
const InheritNothing = function () {} as unknown as new () => Record<string, string>;
InheritNothing.prototype = Object.freeze(Object.create(null) as Record<string, string>);

/**
 * An object for headers, in which no name is there but those that were set, `__proto__` neither.
 *
 * As good as `Object.create(null)`, which the runtime keeps as a table, and filled and gone through in less than half the
 * time: those with the same names share a class.
 */
export function newHeaders(): Record<string, string> {
  return new InheritNothing();
}

/** Every header whose lower-case name begins with this belongs to the bridge (spec 4.4.1, 4.6.4). */
export const RESERVED_PREFIX = "x-bridge.";

/** The reserved headers that the bridge itself sets on an envelope. */
export const RESERVED = {
  /** `"true"` when the bridge minted the envelope id because the source had no stable identity (spec 4.6.5). */
  generatedId: "x-bridge.generated-id",
  /** The transport's deduplication key, when the source carried one. */
  dedupId: "x-bridge.dedup-id",
  /** Messages with one ordering key are handled one after another, per route. */
  orderingKey: "x-bridge.ordering-key",
  /** On a redriven message: the id of the envelope that it repeats. */
  causationId: "x-bridge.causation-id",
  /** On a redriven message: how often it has been redriven, this time included. */
  redrives: "x-bridge.redrives",
  /** On a message that a job or the redrive of one entry sends, as far as the outbox: the job, and which try of it. */
  job: "x-bridge.job",
} as const;

const PLAIN_NAME = /^[!-~]+$/;
const LOWER_CASE_BIT = 0x20;
/** What is not seen in a name, or only as a mark above or below a letter. */
const UNSEEN = /[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}\s]/gu;

/**
 * Whether `name` belongs to the bridge, in any letter case and in any Unicode spelling that a reader further on might
 * fold into it: wide and styled letters, accents, dotless and dotted i, characters that are not seen.
 */
export function isReserved(name: string): boolean {
  const first = name.charCodeAt(0);
  // Nothing folds what is seen and plain into another letter, so most names are known by their first.
  if (first > 0x20 && first < 0x7f && (first | LOWER_CASE_BIT) !== 0x78) return false;
  const folded = PLAIN_NAME.test(name) ? name : foldedBeginning(name);
  return folded.slice(0, RESERVED_PREFIX.length).toLowerCase() === RESERVED_PREFIX;
}

/** Units of a name that are normalised together: marks in a row are put in order, which takes the square of their number. */
const PIECE = 64;

/** As much of a name as the prefix has letters, as a reader might fold it. */
function foldedBeginning(name: string): string {
  let folded = "";
  let end = 0;
  while (folded.length < RESERVED_PREFIX.length && end < name.length) {
    const begin = end;
    end += isHighSurrogate(name.charCodeAt(begin + PIECE - 1)) ? PIECE + 1 : PIECE;
    folded += name.slice(begin, end).normalize("NFKD").replace(UNSEEN, "").toUpperCase();
  }
  return folded;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/**
 * Whether a sender puts the header on the wire: all but the reserved ones, of which only the causation id goes out, so
 * that a target can tell a redriven message from a first one.
 */
export function isCarried(name: string): boolean {
  return !isReserved(name) || name === RESERVED.causationId;
}

/**
 * Another spelling of a name in lower case, as in `Ordering-Key`: for a header whose own name already stands for a part of
 * the message, in a protocol in which both can be there when they differ.
 */
export function capitalised(name: string): string {
  return name.replace(/(?<![a-z0-9])[a-z]/g, (letter) => letter.toUpperCase());
}

/** The headers of which {@link isCarried} holds. */
export function* carriedHeaders(headers: MessageHeaders): Generator<readonly [name: string, value: string]> {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && isCarried(name)) yield [name, value];
  }
}
