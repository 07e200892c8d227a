import { expect, test } from "vitest";
import { threadProgram } from "../src/internal.ts";

const PROGRAM = {
  entry: "@bridge/mine/thread",
  file: "thread-program.test",
  from: import.meta.url,
  threadUrl: undefined,
};

test("the program of a thread is beside the module that starts it, under that module's ending", () => {
  expect(threadProgram(PROGRAM).pathname).toBe(new URL(import.meta.url).pathname);
  const built = (): URL => threadProgram({ ...PROGRAM, from: "file:///built/one.mjs" });
  expect(built).toThrow("it is not at file:///built/thread-program.test.mjs.");
});

test("it is where the user says, also when it is no file", () => {
  const elsewhere = new URL("turns.test.ts", import.meta.url);
  expect(threadProgram({ ...PROGRAM, threadUrl: elsewhere })).toBe(elsewhere);
  const inside = new URL("data:text/javascript,");
  expect(threadProgram({ ...PROGRAM, from: undefined, threadUrl: inside })).toBe(inside);
});

test.each([
  ["where the user says", { threadUrl: new URL("file:///nowhere.js") }, "it is not at file:///nowhere.js"],
  ["beside a module", { file: "missing" }, /it is not at file:.*\/missing\.ts/],
  ["beside a bundle of CommonJS", { from: undefined }, "it cannot be found from CommonJS"],
])("one that is not %s is refused with the remedy", (_, changes, why) => {
  const find = (): URL => threadProgram({ ...PROGRAM, ...changes });
  expect(find).toThrow(why);
  expect(find).toThrow(
    "When you bundle, have your bundler make a file of @bridge/mine/thread, and give its URL as threadUrl",
  );
});
