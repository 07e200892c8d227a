import assert from "node:assert/strict";
import type { ConfigStore, StoredConfig } from "@bridge/ports";
import type { ConfigDocument, ConfigPlace, ConfigStoreSubject } from "./config-store-subject.ts";

/** What a case does with the stores of its subject. Rejects when they do not pass. */
export type ConfigStoreCheck = (subject: Omit<ConfigStoreSubject, "except">, signal: AbortSignal) => Promise<void>;

/** What most cases begin with. */
export const FIRST: ConfigDocument = {
  config_version: 4,
  bridge: { id: "plant-7", log_level: "info" },
  http: { admin_api_key: "${env:ADMIN_KEY}", monitor_api_key: "${file:/run/secrets/key}" },
  senders: [
    { id: "out", transport: "http", options: { url: "https://example.org", retries: 3 } },
    { id: "spare", transport: "memory" },
  ],
};

/** Values that a format could take for others. */
export const AWKWARD: ConfigDocument = {
  texts: [
    "",
    " ",
    "yes",
    "null",
    "~",
    "1e3",
    "0x1f",
    "007",
    "1.0",
    "- a",
    "a: b",
    "a #b",
    "'",
    '"',
    "{}",
    "[",
    "&a",
    "*a",
  ],
  lines: "one\n two\n\nthree \n",
  folded: "x".repeat(300).concat(" ", "y".repeat(300)),
  breaks: "a\r\nb\tc\u0000d\u2028e\u0085f",
  unicode: "Füße 😀 \uFEFF",
  numbers: [0, -1, 1.5, 1e21, 5e-7, Number.MAX_SAFE_INTEGER],
  truth: [true, false],
  empty: { list: [], map: {}, nothing: null },
  nested: [[[{ deep: [{ deeper: "${env:DEEP}" }] }]], []],
  keys: JSON.parse(
    '{"__proto__": {"polluted": true}, "constructor": "c", "10": "ten", "9": "nine", "<<": "merged", "007": "agent", "a b: c#": 1}',
  ) as unknown,
};

/** A check that needs a place with {@link FIRST} in it, or with another document. */
export function at(
  check: (place: ConfigPlace, signal: AbortSignal) => Promise<void>,
  document: ConfigDocument | undefined = FIRST,
): ConfigStoreCheck {
  return async (subject, signal) => {
    await using place = await subject.open(document);
    await check(place, signal);
  };
}

/** What is stored; fails when nothing is. */
export async function loadOf(store: ConfigStore, signal: AbortSignal): Promise<StoredConfig> {
  const stored = await store.load(signal);
  assert.ok(stored !== undefined, "nothing is stored");
  return stored;
}

/** A write that has to succeed. */
export async function writeTo(
  store: ConfigStore,
  document: ConfigDocument,
  expected: StoredConfig,
  signal: AbortSignal,
): Promise<StoredConfig> {
  const written = await store.write(document, expected, signal);
  assert.ok(written !== undefined, "the write was refused though nobody had written");
  return written;
}

/** `document` with another id of the bridge. */
export function named(id: string, document: ConfigDocument = FIRST): ConfigDocument {
  return { ...document, bridge: { ...(document["bridge"] as object), id } };
}

/** Compares what is stored with a document, in which the version of the former need not stand. */
export function assertStored(stored: StoredConfig | undefined, document: ConfigDocument, version: number): void {
  assert.ok(stored !== undefined, "nothing is stored");
  assert.equal(stored.version, version);
  assert.deepEqual(plain(stored.document), plain({ ...document, config_version: version }));
}

/** Objects whatever their prototypes, keys in any order. */
export function plain(document: ConfigDocument): unknown {
  return JSON.parse(JSON.stringify(document));
}
