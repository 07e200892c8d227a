/** W3C Trace Context, level 2: what a message says of the trace that it belongs to. @module */
import type { MessageHeaders } from "./headers.ts";
import { withoutOuterBlanks } from "./outer-blanks.ts";

/** The headers that carry a trace context, in every transport. */
export const TRACE_HEADERS = { parent: "traceparent", state: "tracestate" } as const;

/** Names one span of a trace. */
export interface TraceContext {
  /** 32 hexadecimal digits in lower case, not all 0. */
  readonly traceId: string;
  /** 16 of them, not all 0. */
  readonly spanId: string;
  /** Bits: 1, the span is sampled; 2, the trace id is random. */
  readonly flags: number;
  /** What other systems keep in `tracestate`; empty when there is nothing. */
  readonly state: string;
}

/** The bits of {@link TraceContext.flags} that are defined; others are not handed on. */
export const TRACE_FLAGS = { sampled: 1, random: 2 } as const;

/** Version, trace id, span id and flags; what a later version has to say after them begins with a dash. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?![^-])/;
const LENGTH = 55;
const [DIGIT_0, LETTER_A] = [0x30, 0x61];
const KNOWN_FLAGS = TRACE_FLAGS.sampled | TRACE_FLAGS.random;

/** The flags of a `traceparent`; `undefined` when it is none, and then `tracestate` does not count either. */
export function parseTraceFlags(text: string): number | undefined {
  if (!TRACEPARENT.test(text) || (text.length > LENGTH && text.startsWith("00"))) return undefined;
  // The bits that are known are in the last digit.
  const digit = text.charCodeAt(LENGTH - 1);
  return (digit < LETTER_A ? digit - DIGIT_0 : digit - LETTER_A + 10) & KNOWN_FLAGS;
}

/** All of a `traceparent`; `undefined` when it is none. */
export function parseTraceparent(text: string): Omit<TraceContext, "state"> | undefined {
  const flags = parseTraceFlags(text);
  return flags === undefined ? undefined : { traceId: text.slice(3, 35), spanId: text.slice(36, 52), flags };
}

export function formatTraceparent({ traceId, spanId, flags }: Omit<TraceContext, "state">): string {
  return `00-${traceId}-${spanId}-0${flags & KNOWN_FLAGS}`;
}

/** The trace context that headers carry, their names in lower case; `undefined` when there is no valid one. */
export function readTraceContext(headers: MessageHeaders): TraceContext | undefined {
  const written = headers[TRACE_HEADERS.parent];
  const parent = written === undefined ? undefined : parseTraceparent(written);
  if (parent === undefined) return undefined;
  const state = headers[TRACE_HEADERS.state];
  return { ...parent, state: state === undefined ? "" : boundTracestate(state) };
}

/** Writes a trace context into headers, in the place of another. */
export function writeTraceContext(headers: Record<string, string>, context: TraceContext): void {
  headers[TRACE_HEADERS.parent] = formatTraceparent(context);
  if (context.state !== "") headers[TRACE_HEADERS.state] = context.state;
  else if (headers[TRACE_HEADERS.state] !== undefined) delete headers[TRACE_HEADERS.state];
}

const MAX_MEMBERS = 32;
const MAX_STATE_LENGTH = 512;
/** Members that are longer than this are the first to go. */
const LONG_MEMBER = 128;
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[!-+\--<>-~ ]{0,255}[!-+\--<>-~]$/;

/**
 * A `tracestate` as it is handed on: as it is when it is well formed and has at most 512 characters, shortened by whole
 * members as the W3C text says when it has more, and empty when it is malformed or has more than 32 members.
 */
export function boundTracestate(text: string): string {
  // Nothing well formed is longer: a member has 513 characters at the most.
  if (text.length > MAX_MEMBERS * (2 * 256 + 2)) return "";
  const members = text.split(",").map(withoutOuterBlanks);
  const filled = members.filter((member) => member !== "");
  if (filled.length > MAX_MEMBERS || !filled.every((member) => MEMBER.test(member))) return "";
  if (new Set(filled.map((member) => member.slice(0, member.indexOf("=")))).size < filled.length) return "";
  if (text.length <= MAX_STATE_LENGTH) return filled.length === 0 ? "" : text;
  let length = filled.join(",").length;
  const kept = filled.filter((member) => {
    if (length <= MAX_STATE_LENGTH || member.length <= LONG_MEMBER) return true;
    length -= member.length + 1;
    return false;
  });
  while (kept.join(",").length > MAX_STATE_LENGTH) kept.pop();
  return kept.join(",");
}
