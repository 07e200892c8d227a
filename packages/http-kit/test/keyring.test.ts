import { describe, expect, it } from "vitest";
import { createKeyring, namedAdminKeys } from "../src/index.ts";
import { presentedKey } from "../src/keyring.ts";

const ALICE = { name: "alice", key: "alice-key-0123456789" };
const BOB = { name: "bob", key: "bob-key-0123456789" };

describe("spec 5: API keys", () => {
  it("spec 5.7: a key is known by its name", () => {
    const ring = createKeyring([ALICE, BOB]);
    expect(ring.identify(ALICE.key)).toBe("alice");
    expect(ring.identify(BOB.key)).toBe("bob");
  });

  it("spec 5.5: nothing but the exact key is known", () => {
    const ring = createKeyring([ALICE, BOB]);
    for (const wrong of ["", "alice", ALICE.key.slice(1), `${ALICE.key}x`, ALICE.key.toUpperCase(), ` ${ALICE.key}`])
      expect(ring.identify(wrong)).toBeUndefined();
  });

  it("an empty ring lets nobody in", () => {
    expect(createKeyring([]).identify("")).toBeUndefined();
  });

  it("spec 5.4: a key of less than 16 characters is refused, and not shown", () => {
    expect(() => createKeyring([{ name: "ci", key: "fifteen-charact" }])).toThrow(
      /^the API key "ci" is too short: it needs at least 16 characters$/,
    );
    expect(createKeyring([{ name: "ci", key: "sixteen-characte" }]).identify("sixteen-characte")).toBe("ci");
  });

  it.each([undefined, null, Number.MAX_SAFE_INTEGER, ["a-key-in-a-list-0123"], {}])(
    "a key that is no text is refused, and not shown: %j",
    (key) => {
      expect(() => createKeyring([{ name: "ci", key: key as string }])).toThrow(
        `the API key "ci" is of type ${typeof key}: give it a string`,
      );
    },
  );

  it.each(["", "Alice", "a b", "é", "a".repeat(65), "a/b", "__proto__!"])(
    "contract 3: the key name %j is refused",
    (name) => {
      expect(() => createKeyring([{ name, key: ALICE.key }])).toThrow(/key name .* is invalid/);
    },
  );

  it("contract 3: names of 1 to 64 of a-z, 0-9, dot, underscore and dash are taken", () => {
    for (const name of ["a", "ci.bot_7-x", "z".repeat(64)])
      expect(createKeyring([{ name, key: ALICE.key }]).identify(ALICE.key)).toBe(name);
  });

  it("one key under two names is refused: nobody could tell who it was", () => {
    expect(() => createKeyring([ALICE, { name: "bob", key: ALICE.key }])).toThrow(/"alice" and "bob" are the same/);
  });

  it("a key that no header can carry is refused", () => {
    for (const key of [`${ALICE.key}\n`, ` ${ALICE.key}`, `alice-key\u0000-0123456789`])
      expect(() => createKeyring([{ name: "alice", key }])).toThrow(/cannot be sent in a header/);
  });

  it("a key with letters beyond ASCII is known by the bytes that a client sends", () => {
    const ring = createKeyring([{ name: "alice", key: "schlüssel-für-die-brücke" }]);
    const onTheWire = Buffer.from("schlüssel-für-die-brücke", "utf8").toString("latin1");
    expect(ring.identify(onTheWire)).toBe("alice");
  });
});

describe("spec 5.3: where the key is looked for", () => {
  it.each([
    [{ "X-API-Key": "k" }, "k"],
    [{ Authorization: "Bearer k" }, "k"],
    [{ Authorization: "bearer  k" }, "k"],
    [{ "X-API-Key": "k", Authorization: "Bearer other" }, "k"],
    [{ "X-API-Key": "", Authorization: "Bearer k" }, "k"],
    [{ Authorization: "Basic k" }, undefined],
    [{ Authorization: "Bearer" }, undefined],
    [{ Authorization: "k" }, undefined],
    [{}, undefined],
  ])("%j gives %j", (headers, key) => {
    expect(presentedKey(new Headers(headers as Record<string, string>))).toBe(key);
  });
});

describe("spec 5.7: names of admin keys", () => {
  it("a single key is called admin, an empty one is none", () => {
    expect(namedAdminKeys({ adminApiKey: ALICE.key })).toEqual([{ name: "admin", key: ALICE.key }]);
    expect(namedAdminKeys({ adminApiKey: "" })).toEqual([]);
    expect(namedAdminKeys({})).toEqual([]);
  });

  it("contract 3: named keys come as a map, and may stand beside the single one", () => {
    expect(namedAdminKeys({ adminApiKey: ALICE.key, adminApiKeys: { bob: BOB.key } })).toEqual([
      { name: "admin", key: ALICE.key },
      BOB,
    ]);
  });

  it("no named key takes the reserved name", () => {
    expect(() => namedAdminKeys({ adminApiKeys: { admin: ALICE.key } })).toThrow(/"admin" is reserved/);
  });
});
