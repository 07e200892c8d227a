import { isUtf8 } from "node:buffer";
import { BridgeError } from "@bridge/ports";
import { withoutOuterBlanks } from "@bridge/ports/internal";
import type { Msg } from "@nats-io/transport-node";

/** What begins a block of headers; a status of the server's may follow in the same line. */
const VERSION = "NATS/1.0";
/** Marks a value that is not text. */
const MARK = "base64:";
const LINE_END = "\r\n";
const NOTHING = new Uint8Array();

/** A message as it was read from the socket. */
export interface WireMessage {
  /** Headers, as they are written, and the payload behind them. */
  readonly bytes: Uint8Array;
  /** How many of the bytes are headers. */
  readonly headerLength: number;
}

/** One header of a message, its name as it is written. */
export type WrittenHeader = readonly [name: string, value: string];

/** What the server says of a request for messages. */
export interface Status {
  readonly code: number;
  readonly description: string;
  /** How many of the messages that were asked for will not come; absent when all that could have. */
  readonly pending: number | undefined;
}

/**
 * The bytes of a message. The library's own `headers` throw at a name that it would not write, and what throws there ends
 * its reading for good: so they are not asked for, but what they would be made of.
 */
export function wireMessage(message: Msg): WireMessage {
  const { _rdata: bytes = NOTHING, _msg: args } = message as unknown as LibraryMessage;
  return { bytes, headerLength: Math.max(args.hdr, 0) };
}

interface LibraryMessage {
  readonly _rdata?: Uint8Array;
  readonly _msg: { readonly hdr: number };
}

/**
 * The headers that somebody has published, whatever their names are made of; a value that is not UTF-8 as `base64:…`.
 *
 * @throws BridgeError `INVALID_PAYLOAD` when they are none
 */
export function* writtenHeaders({ bytes, headerLength }: WireMessage): Generator<WrittenHeader> {
  if (headerLength === 0) return;
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, headerLength);
  // Of bytes that are not UTF-8, each is one character, so that a line can still be told from the next.
  const encoding = isUtf8(block) ? "utf8" : "latin1";
  const [first = "", ...lines] = block.toString(encoding).split(LINE_END);
  if (!first.startsWith(VERSION)) throw undecodable(`its headers do not begin with ${VERSION}`);
  for (const line of lines) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    if (colon < 0) throw undecodable("a line of its headers has no colon");
    const [name, value] = [line.slice(0, colon), withoutOuterBlanks(line.slice(colon + 1))];
    yield encoding === "utf8" ? [name, value] : [nameOf(name), valueOf(value)];
  }
}

/** The status in the headers of a message; `undefined` when there is none. */
export function statusOf({ bytes, headerLength }: WireMessage): Status | undefined {
  if (headerLength === 0) return undefined;
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, headerLength).toString("latin1");
  const [, code, description = ""] = /^NATS\/1\.0 +(\d{3})(?: +([^\r\n]*))?/.exec(block) ?? [];
  if (code === undefined) return undefined;
  const [, pending] = /\r\nNats-Pending-Messages: *(\d{1,9})\r\n/.exec(block) ?? [];
  return { code: Number(code), description, pending: pending === undefined ? undefined : Number(pending) };
}

function nameOf(latin1: string): string {
  const name = Buffer.from(latin1, "latin1");
  if (!isUtf8(name)) throw undecodable("the name of a header is not UTF-8");
  return name.toString();
}

function valueOf(latin1: string): string {
  const value = Buffer.from(latin1, "latin1");
  return isUtf8(value) ? value.toString() : MARK + value.toString("base64");
}

function undecodable(why: string): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `the message cannot be decoded: ${why}`);
}
