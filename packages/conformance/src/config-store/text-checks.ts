import assert from "node:assert/strict";
import { type ConfigStore, ConfigTextError, type ConfigTexts } from "@bridge/ports";
import { assertStored, at, AWKWARD, type ConfigStoreCheck, FIRST, loadOf, named, plain } from "./check.ts";

/** Documents as people read and write them. */
export const TEXT_CHECKS = {
  "the text of what is stored says what is stored": at(async (place, signal) => {
    for (const store of [place.store, await place.second()]) {
      const { text } = await textsOf(store).of(await loadOf(store, signal), signal);
      assert.deepEqual(plain(await textsOf(store).read(text, signal)), plain(FIRST));
    }
  }),
  "the text of what another hand wrote says that": at(async (place, signal) => {
    const { store } = place;
    await place.replace(named("by hand"));
    const { text } = await textsOf(store).of(await loadOf(store, signal), signal);
    assert.deepEqual(plain(await textsOf(store).read(text, signal)), plain(named("by hand")));
  }),
  "an edited text says the other document, awkward values too": at(async ({ store }, signal) => {
    const texts = textsOf(store);
    let { text } = await texts.of(await loadOf(store, signal), signal);
    for (const document of [named("edited"), { ...FIRST, ...AWKWARD }, { bridge: { id: "less" } }]) {
      text = await texts.edit(text, document, [], signal);
      assert.deepEqual(plain(await texts.read(text, signal)), plain(document));
    }
  }),
  "what is written with a text is what was said": at(async ({ store }, signal) => {
    const stored = await loadOf(store, signal);
    const { text } = await textsOf(store).of(stored, signal);
    const edited = await textsOf(store).edit(text, named("from a text"), [], signal);
    const document = await textsOf(store).read(edited, signal);
    const written = await store.write(document, stored, signal, edited);
    assertStored(written, named("from a text"), 5);
    assertStored(await store.load(signal), named("from a text"), 5);
    if (written === undefined) return;
    const again = await textsOf(store).of(written, signal);
    assert.deepEqual(
      plain(await textsOf(store).read(again.text, signal)),
      plain({ ...named("from a text"), config_version: 5 }),
    );
  }),
  "a text that is no document says why, and is not quoted": at(async ({ store }, signal) => {
    const broken = [
      '{"bridge": "canary-in-the-text',
      '["canary-in-the-text"]',
      '"canary-in-the-text"',
      '{"bridge": "canary-in-the-text", "bridge": "canary-in-the-text"}',
    ];
    for (const text of broken) {
      await assert.rejects(
        textsOf(store).read(text, signal),
        (error) => error instanceof ConfigTextError && error.message !== "" && !error.message.includes("canary"),
        `taken for a document: ${text}`,
      );
    }
  }),
  "asking for a text, reading and editing one reject with the signal's reason": at(async ({ store }, signal) => {
    const stored = await loadOf(store, signal);
    const { text } = await textsOf(store).of(stored, signal);
    const reason = new Error("enough");
    const aborted = AbortSignal.abort(reason);
    await assert.rejects(textsOf(store).of(stored, aborted), reason);
    await assert.rejects(textsOf(store).read(text, aborted), reason);
    await assert.rejects(textsOf(store).edit(text, FIRST, [], aborted), reason);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

function textsOf(store: ConfigStore): ConfigTexts {
  assert.ok(store.texts !== undefined, "the store keeps no texts");
  return store.texts;
}
