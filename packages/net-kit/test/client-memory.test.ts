import { describe, expect, it } from "vitest";
import { ClientMemory } from "../src/client-memory.ts";

const never = new AbortController().signal;

/** Of a memory; says when it is cut, and like a connection keeps nothing from then on. */
function holders(memory: ClientMemory, ...names: readonly string[]) {
  const cut: string[] = [];
  const made = names.map((name) => ({
    cut() {
      cut.push(name);
      memory.keep(this, 0);
    },
  }));
  return { cut, made };
}

describe("what is kept for clients", () => {
  it("is the sum of what was last said of each, and what is over is forgotten", () => {
    const memory = new ClientMemory(100);
    const { made, cut } = holders(memory, "a", "b");
    const [a, b] = [made[0]!, made[1]!];
    memory.keep(a, 30);
    memory.keep(b, 20);
    expect(memory.bytes).toBe(50);
    memory.keep(a, 10);
    memory.keep(a, 10);
    expect(memory.bytes).toBe(30);
    memory.keep(b, 0);
    memory.keep(b, 0);
    expect(memory.bytes).toBe(10);
    memory.keep(a, 0);
    expect([memory.bytes, cut]).toEqual([0, []]);
  });

  it("up to the limit itself nobody is cut; above it those for whom most is kept, until there is room", () => {
    const memory = new ClientMemory(100);
    const { made, cut } = holders(memory, "small", "largest", "large");
    const [small, largest, large] = [made[0]!, made[1]!, made[2]!];
    memory.keep(small, 20);
    memory.keep(largest, 45);
    memory.keep(large, 35);
    expect([memory.bytes, cut]).toEqual([100, []]);
    memory.keep(small, 70);
    expect([memory.bytes, cut]).toEqual([80, ["small"]]);
    memory.keep(small, 21);
    expect([memory.bytes, cut]).toEqual([56, ["small", "largest"]]);
  });

  it("of two of the same size the one that was there first is cut", () => {
    const memory = new ClientMemory(100);
    const { made, cut } = holders(memory, "first", "second");
    memory.keep(made[0]!, 60);
    memory.keep(made[1]!, 60);
    expect([memory.bytes, cut]).toEqual([60, ["first"]]);
  });

  it("one that is cut counts no more, also when it says nothing of that", () => {
    const memory = new ClientMemory(100);
    let cuts = 0;
    const silent = { cut: () => void cuts++ };
    memory.keep(silent, 90);
    memory.keep({ cut() {} }, 20);
    expect([memory.bytes, cuts]).toEqual([20, 1]);
  });

  it("the only one left stays, however much it is", () => {
    const memory = new ClientMemory(100);
    const { made, cut } = holders(memory, "a", "b");
    memory.keep(made[0]!, 500);
    expect([memory.bytes, cut]).toEqual([500, []]);
    memory.keep(made[1]!, 200);
    expect([memory.bytes, cut]).toEqual([200, ["a"]]);
  });

  it("an answer that has room counts, half of the limit is for such, and others are cut for it", async () => {
    const memory = new ClientMemory(100);
    const { made, cut } = holders(memory, "a", "b");
    memory.keep(made[0]!, 60);
    memory.keep(made[1]!, 10);
    const room = await memory.room(50, never);
    expect([memory.bytes, cut]).toEqual([60, ["a"]]);
    let isMore = false;
    const more = memory.room(1, never).then((one) => ((isMore = true), one));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isMore).toBe(false);
    room[Symbol.dispose]();
    expect(memory.bytes).toBe(10 + 1);
    (await more)[Symbol.dispose]();
    expect(memory.bytes).toBe(10);
  });

  it("one that is larger than that is beside the limit, one at a time, and cuts nobody", async () => {
    const memory = new ClientMemory(100);
    const { made, cut } = holders(memory, "a", "b");
    for (const holder of made) memory.keep(holder, 45);
    const first = await memory.room(51, never);
    expect([memory.bytes, cut]).toEqual([90, []]);
    let isMore = false;
    const second = memory.room(1_000, never).then((one) => ((isMore = true), one));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isMore).toBe(false);
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect([memory.bytes, cut]).toEqual([90, []]);
  });
});
