import { describe, expect, test } from "vitest";
import { keyValueOf } from "../src/keys/key-value.ts";

const KEY = "canary-key-0123456789";
const OTHER = "canary-other-0123456789";

describe("contract 3: what a parameter or secret holds", () => {
  test.each([
    [KEY, { single: KEY }],
    [`${KEY}\n`, { single: KEY }],
    [JSON.stringify({ alice: KEY, "ci.bot-1": OTHER }), { named: { alice: KEY, "ci.bot-1": OTHER } }],
    [JSON.stringify({ alice: { key: KEY, role: "viewer" } }), { named: { alice: { key: KEY, role: "viewer" } } }],
  ])("%s", (text, value) => {
    expect(keyValueOf(text)).toEqual(value);
  });

  test.each([
    ["", "too short"],
    ["fifteen-charact", "too short"],
    [` ${KEY}`, "cannot be sent in a header"],
    [`{${KEY}`, "begins with { and is no JSON object"],
    [`{"ops": "${KEY}", "ops": "${KEY}"}`, "a name is twice in the map of named keys"],
    ["{}", "the map of named keys is empty"],
    [JSON.stringify({ alice: KEY, bob: 1 }), "entry-2 of the map of named keys is neither a name and a string"],
    [JSON.stringify({ alice: [KEY] }), "entry-1 of the map of named keys is neither a name and a string"],
    [JSON.stringify({ alice: { key: KEY } }), '"entry-1" needs either a role or permissions'],
    [JSON.stringify({ alice: { key: KEY, role: OTHER } }), '"entry-1" has a role that is none'],
    [JSON.stringify({ alice: { key: KEY, [OTHER]: "viewer" } }), '"entry-1" has a field that is none'],
    [JSON.stringify({ alice: { role: "viewer" } }), '"entry-1" is of type undefined'],
    [JSON.stringify({ alice: "short" }), '"entry-1" is too short'],
    [JSON.stringify({ alice: KEY, bob: KEY }), '"entry-1" and "entry-2" are the same'],
    [JSON.stringify({ admin: KEY }), 'entry-1 of the map of named keys is called "admin"'],
    [JSON.stringify({ "Canary Name": KEY }), "entry-1 of the map of named keys has a name"],
    [JSON.stringify({ [KEY]: "alice" }), '"entry-1" is too short'],
    [JSON.stringify({ [`${KEY}!`]: "alice-and-all-her-friends" }), "entry-1 of the map of named keys has a name"],
  ])("%s is refused, and neither keys nor what may be one are told", (text, message) => {
    const refused = () => keyValueOf(text);
    expect(refused).toThrow(message);
    expect(refused).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/canary|alice/i) as string }));
  });
});
