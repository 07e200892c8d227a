import { assertSame, type OutboxCheck, staged } from "./check.ts";
import { createdAt, envelopeOf, record, type RecordFields, records } from "./outbox-records.ts";
import { dueAtOnce } from "./owner.ts";

const MEGABYTE = 1024 * 1024;
const ALL_BYTES = Uint8Array.from({ length: 512 }, (_, i) => (i < 256 ? i : 511 - i));

/** Records are lent as they were persisted. */
export const KEEPING_CHECKS = {
  "gives back every field": roundTrip({
    address: "orders/7",
    payloadDigest: "0123456789abcdef".repeat(4),
    entryId: "entry",
    orderingKey: "key",
    createdAt: createdAt(0) + 123,
    envelope: {
      sourceId: "another source",
      subject: "orders",
      contentType: "application/json",
      headers: { a: "1", b: "2" },
      correlationId: "correlation",
      receivedAt: createdAt(0) - 77,
      expiresAt: createdAt(0) + 86_400_000,
    },
  }),
  "gives back what is empty": roundTrip({
    bindingId: "",
    address: "",
    payloadDigest: "",
    envelope: { sourceId: "", subject: "", contentType: "", headers: {}, payload: new Uint8Array(), correlationId: "" },
  }),
  "gives back what was received and what is to be sent, each for itself": roundTrip({
    envelope: { subject: "sent", headers: { stage: "sent" }, payload: ALL_BYTES },
    received: envelopeOf("received", {
      subject: "received",
      headers: { stage: "received" },
      payload: ALL_BYTES.toReversed(),
      contentType: "text/csv",
      expiresAt: createdAt(5),
    }),
  }),
  "gives back a payload that a processor emptied, and what it was": roundTrip({
    envelope: { payload: new Uint8Array() },
    received: envelopeOf("received"),
  }),
  "gives back every byte, 0x00 and 0xff first and last": roundTrip({
    envelope: { payload: Uint8Array.of(0, ...ALL_BYTES, 0xff) },
    received: envelopeOf("received", { payload: Uint8Array.of(0xff, ...ALL_BYTES, 0) }),
  }),
  "gives back a payload of 1 MB": roundTrip({
    envelope: { payload: Uint8Array.from({ length: MEGABYTE }, (_, i) => (i * 31) % 251) },
  }),
  "gives back a payload that was part of a larger buffer": roundTrip({
    envelope: { payload: ALL_BYTES.subarray(100, 300) },
    received: envelopeOf("received", { payload: ALL_BYTES.subarray(200, 210) }),
  }),
  "gives back headers with dots, Unicode, nothing and much in them": roundTrip({
    envelope: {
      headers: {
        "trace.id": "1",
        "x-bridge.generated-id": "true",
        place: "Zürich 東京 🚀",
        empty: "",
        ...Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`header-${i}`, "v".repeat(i)])),
      },
    },
  }),
  "gives back headers named as what every object has": roundTrip({
    envelope: { headers: Object.fromEntries(["__proto__", "constructor", "toString"].map((name) => [name, "mine"])) },
  }),
  "gives back text that needs quoting": roundTrip({
    address: `a/'b'/"c"/%_\\/;--`,
    orderingKey: "key\nof two lines\tand a nul\u0000",
    entryId: "entry '1'",
    envelope: { subject: "Zürich 東京 🚀 \u202e", id: `id '1' "2"`, correlationId: "a,b" },
  }),
  "does not follow when the bytes it was given change": staged(async ({ owner }) => {
    // A slice of a Buffer, which most sources give, is a view of it.
    const [payload, before] = [Buffer.of(1, 2, 3), Uint8Array.of(4, 5, 6)];
    await owner.add(record("a", { envelope: { payload }, received: envelopeOf("a", { payload: before }) }));
    payload.fill(9);
    before.fill(9);
    assertSame(
      (await owner.claimOnly("a")).record,
      record("a", {
        envelope: { payload: Uint8Array.of(1, 2, 3) },
        received: envelopeOf("a", { payload: Uint8Array.of(4, 5, 6) }),
      }),
    );
  }),
  "does not follow when the bytes it gave out change": staged(async ({ owner }) => {
    const fields: RecordFields = { envelope: { payload: Uint8Array.of(1, 2, 3) }, received: envelopeOf("received") };
    await owner.add(record("a", fields));
    const claim = await owner.claimOnly("a");
    claim.record.envelope.payload.fill(9);
    claim.record.received?.payload.fill(9);
    await owner.end(claim, dueAtOnce(1));
    assertSame((await owner.take("a")).record, record("a", fields));
  }),
  "keeps hundreds of records, those of one call and those of many": staged(async ({ owner, other }) => {
    const all = records(600, (i) => ({ envelope: { payload: Uint8Array.of(i % 256, i >> 8) } }));
    await owner.add(...all.slice(0, 300));
    for (const entry of all.slice(300, 320)) await other.add(entry);
    await Promise.all(all.slice(320).map((entry, i) => (i % 2 === 0 ? owner : other).add(entry)));
    const claims = [...(await owner.claim()), ...(await other.claim())];
    const lent = new Map(claims.map((claim) => [claim.record.id, claim.record]));
    for (const entry of all) assertSame(lent.get(entry.id) ?? record("none"), entry);
  }),
} as const satisfies Record<string, OutboxCheck>;

function roundTrip(fields: RecordFields): OutboxCheck {
  return staged(async ({ owner }) => {
    const entry = record("a", fields);
    await owner.add(entry, record("b"));
    assertSame((await owner.take("a")).record, entry);
  });
}
