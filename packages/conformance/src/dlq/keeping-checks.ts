import assert from "node:assert/strict";
import { type DeadLetter, ERROR_CODES, type ErrorClass, type ErrorCode } from "@bridge/ports";
import {
  adminOf,
  assertSame,
  type DlqCheck,
  idsOf,
  largestPayload,
  putAll,
  withRestart,
  withStore,
  withTwo,
} from "./check.ts";
import { deadLetter, type DeadLetterFields, deadLetters, EPOCH } from "./dead-letters.ts";

const ALL_BYTES = Uint8Array.from({ length: 512 }, (_, i) => (i < 256 ? i : 511 - i));

/** Entries come back as they went in. */
export const KEEPING_CHECKS = {
  "gives back every field": roundTrip({
    bindingId: "b",
    attempts: 7,
    failedAt: EPOCH + 123,
    envelope: { receivedAt: EPOCH + 1, expiresAt: EPOCH + 86_400_000, headers: { a: "1", b: "2" } },
  }),
  "gives back what is empty": roundTrip({
    bindingId: "",
    subject: "",
    reason: "",
    lastError: "",
    envelope: { subject: "", contentType: "", headers: {}, payload: new Uint8Array() },
  }),
  "gives back every byte, 0x00 and 0xff first and last": roundTrip({
    envelope: { payload: Uint8Array.of(0, ...ALL_BYTES, 0xff) },
  }),
  "gives back a payload of 1 MB": async (subject, signal) => {
    const payload = Uint8Array.from({ length: largestPayload(subject) }, (_, i) => (i * 31) % 251);
    await roundTrip({ envelope: { payload } })(subject, signal);
  },
  "gives back a payload that was part of a larger buffer": roundTrip({
    envelope: { payload: ALL_BYTES.subarray(100, 300) },
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
    subject: `a/'b'/"c"/%_\\/;--`,
    reason: "line\nline\ttab\u0000nul",
    lastError: "Zürich 東京 🚀 \u202e",
    routeId: "route '1'",
  }),
  "gives back every category and code": withStore(async (store, signal) => {
    const codes = Object.entries(ERROR_CODES) as [ErrorCode, ErrorClass][];
    const entries = codes.map(([errorCode, category]) => deadLetter(errorCode, { errorCode, category }));
    await putAll(store, entries, signal);
    for (const entry of entries) assertSame(await store.get(entry.id, signal), entry);
  }),
  "an id that is not there gives nothing": withStore(async (store, signal) => {
    await store.put(deadLetter("a"), signal);
    assert.equal(await store.get("b", signal), undefined);
    assert.equal(await store.get("", signal), undefined);
    assert.equal(await store.get("__proto__", signal), undefined);
  }),
  "does not follow when the bytes it was given change": withStore(async (store, signal) => {
    const payload = Uint8Array.of(1, 2, 3);
    await store.put(deadLetter("a", { envelope: { payload } }), signal);
    payload.fill(9);
    assertSame(await store.get("a", signal), deadLetter("a", { envelope: { payload: Uint8Array.of(1, 2, 3) } }));
  }),
  "does not follow when the bytes it gave out change": withStore(async (store, signal) => {
    const payload = Uint8Array.of(1, 2, 3);
    await store.put(deadLetter("a", { envelope: { payload } }), signal);
    (await store.get("a", signal))?.envelope.payload.fill(9);
    assertSame(await store.get("a", signal), deadLetter("a", { envelope: { payload: Uint8Array.of(1, 2, 3) } }));
  }),
  "writing an id twice keeps the first": withStore(async (store, signal) => {
    const first = deadLetter("a", { reason: "first", envelope: { payload: Uint8Array.of(1) } });
    await store.put(first, signal);
    await store.put(deadLetter("a", { reason: "second", failedAt: EPOCH + 1 }), signal);
    assertSame(await store.get("a", signal), first);
    assert.deepEqual(await idsOf(store, signal), ["a"]);
  }),
  "of writes of one id that race, one is kept whole": withTwo(async (one, other, signal) => {
    const rivals = Array.from({ length: 10 }, (_, i) =>
      deadLetter("a", {
        reason: `rival ${i}`,
        failedAt: EPOCH + i,
        envelope: { payload: new Uint8Array(1000).fill(i) },
      }),
    );
    await Promise.all(rivals.map((rival, i) => (i % 2 === 0 ? one : other).put(rival, signal)));
    const kept = await one.get("a", signal);
    assertSame(kept, rivals.find(({ reason }) => reason === kept?.reason) as DeadLetter);
    assert.deepEqual(await idsOf(other, signal), ["a"]);
  }),
  "writes that overlap are all kept": withTwo(async (one, other, signal) => {
    const entries = deadLetters(200);
    await Promise.all(entries.map((entry, i) => (i % 2 === 0 ? one : other).put(entry, signal)));
    assert.deepEqual(
      await idsOf(one, signal),
      entries.map(({ id }) => id),
    );
  }),
  "what was written survives an abrupt end": withRestart(
    async (store, signal) => putAll(store, deadLetters(20), signal),
    async (store, signal) => {
      for (const entry of deadLetters(20)) assertSame(await store.get(entry.id, signal), entry);
      assert.equal((await idsOf(store, signal)).length, 20);
    },
  ),
  "what was deleted stays deleted after an abrupt end": withRestart(
    async (store, signal) => {
      await putAll(store, deadLetters(3), signal);
      await adminOf(store).delete(["e0001"], signal);
    },
    async (store, signal) => assert.deepEqual(await idsOf(store, signal), ["e0000", "e0002"]),
  ),
} as const satisfies Record<string, DlqCheck>;

function roundTrip(fields: DeadLetterFields): DlqCheck {
  return withStore(async (store, signal) => {
    const entry = deadLetter("a", fields);
    await store.put(entry, signal);
    assertSame(await store.get("a", signal), entry);
  });
}
