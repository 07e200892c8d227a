import { describe, expect, it } from "vitest";
import { measureRound, type Opened } from "../src/run/round.ts";

const VOLUME = { warmUp: 30, messages: 12, pacedSeconds: 2 };

/** What contenders were asked, in this order; `slow` ones do not keep up, and what of `failing` is asked fails. */
function contenders({ slow = [], failing }: { slow?: readonly string[]; failing?: string } = {}) {
  const asked: string[] = [];
  const ask = async (what: string): Promise<void> => {
    asked.push(what);
    if (what === failing) throw new Error("out of paper");
  };
  const open = async (name: string): Promise<Opened> => {
    await ask(`${name} open`);
    return {
      load: {
        keepsUp: !slow.includes(name),
        warmUp: (messages) => ask(`${name} warm-up ${messages}`),
        resume: () => ask(`${name} resume`),
        flood: (messages) => ask(`${name} flood ${messages}`),
        pace: (seconds) => ask(`${name} pace ${seconds}`),
        async result() {
          await ask(`${name} result`);
          return { perSecond: name.length };
        },
      },
      [Symbol.asyncDispose]: () => ask(`${name} close`),
    };
  };
  return { open, asked, askedFor: (what: string) => asked.filter((each) => each.includes(what)) };
}

describe("a round", () => {
  it("has all contenders open and warm before one carries, and until the last has carried", async () => {
    const { open, asked } = contenders();
    await measureRound(["a", "b"], 0, VOLUME, open);
    const phases = ["open", "warm-up", "flood", "pace", "result", "close"];
    const order = asked.map((each) => each.split(" ")[1] ?? "").filter((phase) => phase !== "resume");
    expect([...new Set(order)]).toEqual(phases);
    expect(order).toEqual(order.toSorted((one, other) => phases.indexOf(one) - phases.indexOf(other)));
  });

  it("cuts the flood into slices, and begins each with another contender", async () => {
    const { open, askedFor } = contenders();
    await measureRound(["a", "b", "c"], 0, VOLUME, open);
    const turns = ["a b c", "b c a", "c a b", "a b c", "b c a"];
    const sizes = [2, 2, 2, 3, 3];
    const expected = turns.flatMap((turn, slice) => turn.split(" ").map((name) => `${name} flood ${sizes[slice]}`));
    expect(askedFor("flood")).toEqual(expected);
  });

  it("begins with another contender than the round before", async () => {
    const { open, askedFor } = contenders();
    await measureRound(["a", "b", "c"], 1, VOLUME, open);
    expect(askedFor("flood").slice(0, 4)).toEqual(["b flood 2", "c flood 2", "a flood 2", "c flood 2"]);
    expect(askedFor("open")).toEqual(["b open", "c open", "a open"]);
  });

  it("has everybody resume before each turn", async () => {
    const { open, asked } = contenders();
    await measureRound(["a", "b"], 0, VOLUME, open);
    const turns = asked.flatMap((each, at) => (/flood|pace|warm-up/.test(each) ? [[asked[at - 1], each[0]]] : []));
    expect(turns.every(([before, name]) => before === `${name} resume`)).toBe(true);
  });

  it("paces in turns of a second those that keep up", async () => {
    const { open, askedFor } = contenders({ slow: ["b"] });
    await measureRound(["a", "b", "c"], 0, VOLUME, open);
    expect(askedFor("pace")).toEqual(["a pace 1", "c pace 1", "c pace 1", "a pace 1"]);
  });

  it("has the result of each", async () => {
    const runs = await measureRound(["a", "bb"], 1, VOLUME, contenders().open);
    expect(Object.fromEntries(runs)).toEqual({ a: { perSecond: 1 }, bb: { perSecond: 2 } });
  });

  it.each(["b open", "b warm-up 30", "b flood 2", "b result"])(
    "names who failed, and closes everybody: %s",
    async (failing) => {
      const { open, askedFor } = contenders({ failing });
      await expect(measureRound(["a", "b"], 0, VOLUME, open)).rejects.toThrow("b: out of paper");
      expect(askedFor("close")).toEqual(failing === "b open" ? ["a close"] : ["b close", "a close"]);
    },
  );
});
