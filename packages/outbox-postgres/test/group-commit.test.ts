import { expect, test } from "vitest";
import { GroupCommit, type GroupLimits } from "../src/group-commit.ts";

const WIDE: GroupLimits = { items: 100, bytes: 1_000 };

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
  const answers = [commit.add(["a", "b"]), commit.add([]), commit.add(["c"])];
  await turn();
  expect(writes.map(({ calls }) => calls)).toEqual([[["a", "b"], [], ["c"]]]);
  writes[0]?.end.resolve();
  expect(await Promise.all(answers)).toEqual([["a!", "b!"], [], ["c!"]]);
});

test("what comes while a write is under way waits for it, and goes together in the next", async () => {
  const { commit, writes } = group();
  const first = commit.add(["a"]);
  await turn();
  const rest = [commit.add(["b"]), commit.add(["c"])];
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
  const answers = sizes.map((bytes, i) => commit.add([`${i}`], bytes));
  const large = commit.add(["l", "l", "l", "l"], 100);
  for (let i = 0; i < 3; i++) {
    await turn();
    writes[i]?.end.resolve();
  }
  await Promise.all([...answers, large]);
  expect(writes.map(({ calls }) => calls.flat().length)).toEqual([3, 2, 4]);
});

test("of a write that fails all its calls are told, and the next one comes", async () => {
  const { commit, writes } = group();
  const failing = [commit.add(["a"]), commit.add(["b"])];
  await turn();
  writes[0]?.end.reject(new Error("no disk"));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const next = commit.add(["c"]);
  await turn();
  writes[1]?.end.resolve();
  expect(await next).toEqual(["c!"]);
});
