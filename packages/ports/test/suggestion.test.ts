import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestWord, suggestion } from "../src/suggestion.ts";

const WORDS = ["delivery_mode", "dispatch_mode", "receiver_id", "policy", "backoff", "mqtt", "http"];

describe("the word that was meant", () => {
  it.each([
    ["polciy", "policy"],
    ["Policy", "policy"],
    ["backof", "backoff"],
    ["dispach_mode", "dispatch_mode"],
    ["receiverid", "receiver_id"],
    ["htttp", "http"],
    ["mqt", "mqtt"],
  ])("for %s is %s", (word, meant) => {
    expect(suggestion(word, WORDS)).toBe(`; did you mean "${meant}"?`);
  });

  it.each([
    ["max_replays", "max_replay_attempts"],
    ["max_replay", "max_replay_attempts"],
    ["on_perm_failure", "on_permanent_failure"],
  ])("finding 4.5: for %s, which says less, is %s", (word, meant) => {
    const known = ["max_in_flight", "max_replay_attempts", "on_permanent_failure", "on_expired"];
    expect(suggestion(word, known)).toBe(`; did you mean "${meant}"?`);
  });

  it.each(["", "x", "amqp", "sessions", "a".repeat(100_000)])("is none for %.20s", (word) => {
    expect(suggestion(word, WORDS)).toBe("");
  });

  it("is found through any one slip of the finger", () => {
    const slip = fc
      .tuple(fc.constantFrom(...WORDS), fc.nat(), fc.constantFrom("x", "_", "q"), fc.constantFrom(0, 1))
      .map(([word, position, letter, taken]) => {
        const at = position % word.length;
        return { word, slipped: word.slice(0, at) + letter + word.slice(at + taken) };
      });
    fc.assert(
      fc.property(slip, ({ word, slipped }) => {
        fc.pre(slipped !== word);
        expect(nearestWord(slipped, WORDS)).toBe(word);
      }),
    );
  });

  it("is always one of the known words, and never the word itself", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, known) => {
        const nearest = nearestWord(word, known);
        expect(nearest === undefined || (known.includes(nearest) && nearest !== word)).toBe(true);
      }),
    );
  });
});
