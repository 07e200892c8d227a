/** Header names are lower case. Names under {@link RESERVED_PREFIX} belong to the bridge and are stripped at every ingress. */
export type MessageHeaders = Readonly<Record<string, string>>;

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
} as const;

const PLAIN_NAME = /^[!-~]+$/;
/** What is not seen in a name, or only as a mark above or below a letter. */
const UNSEEN = /[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}\s]/gu;

/**
 * Whether `name` belongs to the bridge, in any letter case and in any Unicode spelling that a reader further on might
 * fold into it: wide and styled letters, accents, dotless and dotted i, characters that are not seen.
 */
export function isReserved(name: string): boolean {
  const folded = PLAIN_NAME.test(name) ? name : name.normalize("NFKD").replace(UNSEEN, "").toUpperCase();
  return folded.slice(0, RESERVED_PREFIX.length).toLowerCase() === RESERVED_PREFIX;
}

/**
 * The headers that a sender puts on the wire: everything but the reserved ones, of which only the causation id goes
 * out, so that a target can tell a redriven message from a first one.
 */
export function* carriedHeaders(headers: MessageHeaders): Generator<readonly [name: string, value: string]> {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && (!isReserved(name) || name === RESERVED.causationId)) yield [name, value];
  }
}
