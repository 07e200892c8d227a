import assert from "node:assert/strict";
import { ReadOnlyConfigError } from "@bridge/ports";
import { assertStored, at, AWKWARD, type ConfigStoreCheck, FIRST, loadOf, named, writeTo } from "./check.ts";

/** One version more, whole or not at all, and only over what the writer has seen. */
export const WRITING_CHECKS = {
  "a write is the next version, and is what everybody loads": at(async (place, signal) => {
    const written = await writeTo(place.store, named("new"), await loadOf(place.store, signal), signal);
    assertStored(written, named("new"), 5);
    assertStored(await place.store.load(signal), named("new"), 5);
    assertStored(await (await place.second()).load(signal), named("new"), 5);
  }),
  "the first write of a document without a version is version 1": at(
    async ({ store }, signal) => {
      const document = { bridge: { id: "b" } };
      assertStored(await writeTo(store, document, await loadOf(store, signal), signal), document, 1);
    },
    { bridge: { id: "a" } },
  ),
  "the version is counted by the store, whatever the document says": at(async ({ store }, signal) => {
    const written = await writeTo(store, { ...FIRST, config_version: 77 }, await loadOf(store, signal), signal);
    assertStored(written, FIRST, 5);
  }),
  "the version is counted from that of what is expected, which may be higher than the stored one": at(
    async ({ store }, signal) => {
      const expected = { ...(await loadOf(store, signal)), version: 76 };
      assertStored(await writeTo(store, named("new"), expected, signal), named("new"), 77);
      assertStored(await store.load(signal), named("new"), 77);
    },
  ),
  "a write of the same document is a version of its own": at(async ({ store }, signal) => {
    const former = await loadOf(store, signal);
    const written = await writeTo(store, former.document, former, signal);
    assertStored(written, FIRST, 5);
    assert.notEqual(written.revision, former.revision);
  }),
  "what was written can be written over, again and again": at(async ({ store }, signal) => {
    let stored = await loadOf(store, signal);
    for (const id of ["a", "b", "c"]) stored = await writeTo(store, named(id), stored, signal);
    assertStored(await store.load(signal), named("c"), 7);
    assert.equal((await loadOf(store, signal)).revision, stored.revision);
  }),
  "awkward values come back as they were written": at(async ({ store }, signal) => {
    assertStored(await writeTo(store, AWKWARD, await loadOf(store, signal), signal), AWKWARD, 5);
    assertStored(await store.load(signal), AWKWARD, 5);
    assert.equal((Object.prototype as { polluted?: unknown }).polluted, undefined);
  }),
  "what the new document leaves out is gone": at(async ({ store }, signal) => {
    const document = { bridge: { id: "plant-7" }, senders: [{ id: "spare", transport: "memory" }] };
    await writeTo(store, document, await loadOf(store, signal), signal);
    assertStored(await store.load(signal), document, 5);
  }),
  "elements of a list come in the order of the new document": at(async ({ store }, signal) => {
    const [out, spare] = FIRST["senders"] as readonly object[];
    const document = { ...FIRST, senders: [{ id: "new", transport: "mqtt" }, { ...spare, options: { a: 1 } }, out] };
    await writeTo(store, document, await loadOf(store, signal), signal);
    assertStored(await store.load(signal), document, 5);
  }),
  "a value may become another kind of value": at(async ({ store }, signal) => {
    const document = { bridge: "text", http: [1, { id: "x" }], senders: { out: { id: "out" } } };
    await writeTo(store, document, await loadOf(store, signal), signal);
    assertStored(await store.load(signal), document, 5);
  }),
  "what is loaded and what is written are nobody's to change": at(async ({ store }, signal) => {
    const document = structuredClone(named("new"));
    const written = await writeTo(store, document, await loadOf(store, signal), signal);
    (document["bridge"] as { id: string }).id = "changed afterwards";
    assertStored(written, named("new"), 5);
    assertStored(await store.load(signal), named("new"), 5);
  }),
  "nothing is written over a version that moved": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    await writeTo(await place.second(), named("first"), seen, signal);
    const content = await place.content();
    assert.equal(await place.store.write(named("second"), seen, signal), undefined);
    assert.equal(await place.content(), content);
  }),
  "nothing is written over another hand's content, though the version is the same": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    await place.replace(named("by hand"));
    const content = await place.content();
    assert.equal(await place.store.write(named("new"), seen, signal), undefined);
    assert.equal(await place.content(), content);
  }),
  "nothing is written where the document is gone": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    await place.remove();
    assert.equal(await place.store.write(named("new"), seen, signal), undefined);
    assert.equal(await place.content(), undefined);
  }),
  "nothing is written over what is no document": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    await place.damage("canary");
    const content = await place.content();
    assert.equal(await place.store.write(named("new"), seen, signal), undefined);
    assert.equal(await place.content(), content);
  }),
  "what was written survives an abrupt end": at(async (place, signal) => {
    assert.ok(place.reopen !== undefined, "the place has no reopen: give one, or excuse the case");
    await writeTo(place.store, named("new"), await loadOf(place.store, signal), signal);
    const reopened = await place.reopen();
    const stored = await loadOf(reopened, signal);
    assertStored(stored, named("new"), 5);
    await writeTo(reopened, named("newer"), stored, signal);
  }),
  "a read-only document says so, and stays as it is": async (subject, signal) => {
    assert.ok(subject.openReadOnly !== undefined, "the subject has no openReadOnly: give one, or excuse the case");
    await using place = await subject.openReadOnly(FIRST);
    const content = await place.content();
    const seen = await loadOf(place.store, signal);
    assertStored(seen, FIRST, 4);
    await assert.rejects(
      place.store.write(named("new"), seen, signal),
      (error) => error instanceof ReadOnlyConfigError && error.message !== "",
    );
    assert.equal(await place.content(), content);
  },
} as const satisfies Record<string, ConfigStoreCheck>;
