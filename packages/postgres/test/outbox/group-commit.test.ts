import { expect, test } from "vitest";
import { BridgeError } from "@bridge/ports";
import { type CallSize } from "@bridge/ports/internal";
import { GroupCommit } from "../../src/outbox/group-commit.ts";

const { signal } = new AbortController();
const WIDE: CallSize = { items: 100, bytes: 1_000 };

/** Writes that end when the test says so. */
function group(limits = WIDE) {
  const writes: { readonly calls: readonly (readonly string[])[]; readonly end: PromiseWithResolvers<void> }[] = [];
  const commit = new GroupCommit<string, string>(limits, async (calls) => {
    const end = Promise.withResolvers<void>();
    writes.push({ calls, end });
    await end.promise;
    return calls.map((items) => items.map((item) => `${item}!`));
  });
  return { commit, writes };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("calls of one turn go together, and each gets its own results", async () => {
  const { commit, writes } = group();
  const answers = [commit.add(["a", "b"], signal), commit.add([], signal), commit.add(["c"], signal)];
  await turn();
  expect(writes.map(({ calls }) => calls)).toEqual([[["a", "b"], [], ["c"]]]);
  writes[0]?.end.resolve();
  expect(await Promise.all(answers)).toEqual([["a!", "b!"], [], ["c!"]]);
});

test("what comes while a write is under way waits for it, and goes together in the next", async () => {
  const { commit, writes } = group();
  const first = commit.add(["a"], signal);
  await turn();
  const rest = [commit.add(["b"], signal), commit.add(["c"], signal)];
  await turn();
  expect(writes).toHaveLength(1);
  writes[0]?.end.resolve();
  await first;
  await turn();
  expect(writes.map(({ calls }) => calls.flat())).toEqual([["a"], ["b", "c"]]);
  writes[1]?.end.resolve();
  expect(await Promise.all(rest)).toEqual([["b!"], ["c!"]]);
});

test.each([
  ["items", { items: 3, bytes: 1_000 }, [1, 1, 1, 1, 1]],
  ["bytes", { items: 100, bytes: 30 }, [10, 10, 10, 10, 10]],
])("a write holds no more %s than it may, and a larger call goes alone", async (_, limits, sizes) => {
  const { commit, writes } = group(limits);
  const answers = sizes.map((bytes, i) => commit.add([`${i}`], signal, bytes));
  const large = commit.add(["l", "l", "l", "l"], signal, 100);
  for (let i = 0; i < 3; i++) {
    await turn();
    writes[i]?.end.resolve();
  }
  await Promise.all([...answers, large]);
  expect(writes.map(({ calls }) => calls.flat().length)).toEqual([3, 2, 4]);
});

test("of a write that fails all its calls are told, and the next one comes", async () => {
  const { commit, writes } = group();
  const failing = [commit.add(["a"], signal), commit.add(["b"], signal)];
  await turn();
  writes[0]?.end.reject(new Error("no disk"));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const next = commit.add(["c"], signal);
  await turn();
  writes[1]?.end.resolve();
  expect(await next).toEqual(["c!"]);
});

test("who gives up is told at once; what had not begun is left out, and what had goes on", async () => {
  const { commit, writes } = group();
  const [early, late] = [new AbortController(), new AbortController()];
  const begun = commit.add(["begun"], early.signal);
  await turn();
  const waiting = commit.add(["waiting"], late.signal);
  const next = commit.add(["next"], signal);
  early.abort(new Error("enough"));
  late.abort(new Error("enough"));
  await expect(begun).rejects.toThrow("enough");
  await expect(waiting).rejects.toThrow("enough");
  writes[0]?.end.resolve();
  await turn();
  expect(writes.map(({ calls }) => calls.flat())).toEqual([["begun"], ["next"]]);
  writes[1]?.end.resolve();
  expect(await next).toEqual(["next!"]);
});

test("after a write that was late fewer calls go together, until each goes alone; and more again while that goes well", async () => {
  const { commit, writes } = group();
  const add = () => Array.from({ length: 8 }, () => commit.add(["a"], signal, 100).catch(() => {}));
  const calls = add();
  for (let i = 0; i < 4; i++) {
    await turn();
    writes[i]?.end.reject(new BridgeError("TIMEOUT", "no answer in time"));
    await turn();
    calls.push(...add());
  }
  expect(writes.slice(0, 4).map((write) => write.calls.length)).toEqual([8, 4, 2, 1]);
  for (let i = 4; i < writes.length || i === 4; i++) {
    await turn();
    writes[i]?.end.resolve();
    await turn();
  }
  await Promise.all(calls);
  expect(writes.some((write, i) => i > 4 && write.calls.length > 1)).toBe(true);
});
