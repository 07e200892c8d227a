import assert from "node:assert/strict";
import type { SourceMessage } from "@bridge/ports";

/** Something a message carries that has to come out of a transport as it went in. */
export interface ContentCheck {
  readonly fields: (largestPayload: number) => Partial<SourceMessage>;
  readonly verify: (actual: SourceMessage, sent: SourceMessage) => void;
}

/** Transports may carry whole seconds, and count them down on the way. */
const EXPIRY_TOLERANCE_MS = 5_000;
const MANY_HEADERS = 64;

const ALL_BYTES = Uint8Array.from({ length: 512 }, (_, i) => (i < 256 ? i : 511 - i));

export const CONTENT_CHECKS = {
  "carries every byte, 0x00 and 0xff first and last": payload(() => Uint8Array.of(0, ...ALL_BYTES, 0xff)),
  "carries bytes that are no UTF-8": payload(() => Uint8Array.of(0xc3, 0x28, 0xf0, 0x9f, 0x80, 0xff)),
  "carries an empty payload": payload(() => new Uint8Array()),
  "carries a large payload": payload((size) => Uint8Array.from({ length: size }, (_, i) => (i * 31) % 251)),
  "carries header names with dots": headers({ "trace.id": "1", "a.b.c-d_e": "2" }),
  "carries header values in Unicode": headers({ place: "Zürich 東京 🚀" }),
  "carries a trace context": headers({
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "vendor@sys=1, other=a b",
  }),
  "carries an empty header value": headers({ empty: "", full: "x" }),
  "carries many headers": headers(
    Object.fromEntries(Array.from({ length: MANY_HEADERS }, (_, i) => [`header-${i}`, `value ${i}`])),
  ),
  "carries the id": same("id", "id-0815"),
  "carries the subject": {
    fields: () => ({}),
    verify: (actual, sent) => assert.equal(actual.subject, sent.subject),
  },
  "carries the content type": same("contentType", "application/vnd.bridge+json"),
  "carries the correlation id": same("correlationId", "correlation-0815"),
  "carries the deduplication id": same("dedupId", "dedup-0815"),
  "carries the ordering key": same("orderingKey", "key-0815"),
  "carries the expiry": {
    fields: () => ({ expiresAt: (Math.floor(Date.now() / 1000) + 3_600) * 1000 }),
    verify({ expiresAt = Number.NaN }, sent) {
      const difference = Math.abs(expiresAt - (sent.expiresAt ?? 0));
      assert.ok(difference <= EXPIRY_TOLERANCE_MS, `expiry ${expiresAt} came for ${sent.expiresAt}`);
    },
  },
} as const satisfies Record<string, ContentCheck>;

function payload(make: (largestPayload: number) => Uint8Array): ContentCheck {
  return {
    fields: (largestPayload) => ({ payload: make(largestPayload) }),
    verify(actual, sent) {
      assert.equal(actual.payload.length, sent.payload.length, "another length");
      assert.ok(Buffer.from(sent.payload).equals(actual.payload), "the length is the same, the bytes are not");
    },
  };
}

/** Other headers may come with them: a transport has its own. */
function headers(expected: Readonly<Record<string, string>>): ContentCheck {
  return {
    fields: () => ({ headers: expected }),
    verify(actual) {
      const lowerCase = lowerCaseHeaders(actual);
      const arrived = Object.fromEntries(Object.keys(expected).map((name) => [name, lowerCase[name]]));
      assert.deepEqual(arrived, expected);
    },
  };
}

function same(field: "id" | "contentType" | "correlationId" | "dedupId" | "orderingKey", value: string): ContentCheck {
  return {
    fields: () => ({ [field]: value }),
    verify: (actual) => assert.equal(actual[field], value),
  };
}

/** A message's headers, their names in lower case. */
export function lowerCaseHeaders(message: SourceMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}
