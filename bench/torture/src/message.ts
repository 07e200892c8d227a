import { isRoute, type RouteName, targetOf } from "./routes.ts";

/** A message of the torture, as its id names it. */
export interface MessageName {
  readonly route: RouteName;
  /** From 0, for each route. */
  readonly number: number;
}

const PAYLOAD_BYTES = 256;
/** The header that the addresses at the targets need. */
export const LANE_HEADER = "lane";

const LANES = 4;
/** Every second message of a route has one of so many ordering keys; those of one key are of one lane. */
const KEYS = 4 * LANES;
/** One message of so many has no way to its target. */
const UNDELIVERABLE_EVERY = 97;

export function idOf({ route, number }: MessageName): string {
  return `${route}:${number}`;
}

/** `undefined` for what is no id of ours. */
export function nameOf(id: string): MessageName | undefined {
  const at = id.lastIndexOf(":");
  const route = id.slice(0, at);
  const number = Number(id.slice(at + 1));
  return isRoute(route) && Number.isInteger(number) ? { route, number } : undefined;
}

/** The id again and again, so that whoever gets the payload can tell whether it is whole. */
export function payloadOf(id: string): Buffer {
  return Buffer.alloc(PAYLOAD_BYTES, `${id} `);
}

/** The id that a payload begins with, and whether all of it is as it was sent. */
export function readPayload(payload: Uint8Array): { readonly id: string; readonly intact: boolean } {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const id = bytes.toString("latin1", 0, Math.max(0, bytes.indexOf(" ")));
  return { id, intact: bytes.equals(payloadOf(id)) };
}

/**
 * Whether a message is to end in the DLQ: an HTTP target refuses it, and for one at a broker it lacks the header that its
 * address needs.
 */
export function undeliverable({ number }: MessageName): boolean {
  return number % UNDELIVERABLE_EVERY === UNDELIVERABLE_EVERY - 1;
}

/** What the message says for its address; `undefined` when it is to have none. */
export function laneOf(name: MessageName, mayFail: boolean): string | undefined {
  const lost = mayFail && targetOf(name.route) !== "http" && undeliverable(name);
  return lost ? undefined : String(name.number % LANES);
}

/** The ordering key of every second message. */
export function keyOf({ route, number }: MessageName): string | undefined {
  return number % (2 * KEYS) < KEYS ? `${route}/${number % KEYS}` : undefined;
}
