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

test("it is where the user says", () => {
  const elsewhere = new URL("turns.test.ts", import.meta.url);
  expect(threadProgram({ ...PROGRAM, threadUrl: elsewhere })).toBe(elsewhere);
});

test.each([
  ["https://me:hush@cdn.example/processors.mjs?key=hush", "https://cdn.example/processors.mjs."],
  ["node:fs", "node:fs."],
  ["blob:nodedata:1", "blob:nodedata:1."],
  [`data:text/javascript,${"x".repeat(9_999)}`, `data:text/javascript,${"x".repeat(179)}….`],
])("a program that is no file is refused: %.40s", (href, told) => {
  const find = (): URL => threadProgram({ ...PROGRAM, threadUrl: new URL(href) });
  expect(find).toThrow(`threadUrl is no file: URL, but ${told}`);
  expect(find).not.toThrow("hush");
});

test.each([
  ["a text", "file:///a.js", "threadUrl is no URL, but a string."],
  ["a folder", new URL(".", import.meta.url), /threadUrl names no file at file:.*\/test\/\. /],
  ["of another machine", new URL("file://host/x"), "threadUrl names no file at file://host/x."],
  ["no path", new URL("file:///a%2Fb"), "threadUrl names no file at file:///a%2Fb."],
])("a program that is %s is refused", (_, given, why) => {
  expect(() => threadProgram({ ...PROGRAM, threadUrl: given as URL })).toThrow(why);
});

test.each([
  [
    "where the user says",
    { threadUrl: new URL("file:///nowhere.js") },
    "threadUrl names no file at file:///nowhere.js",
  ],
  ["beside a module", { file: "missing" }, /it is not at file:.*\/missing\.ts/],
  ["beside a bundle of CommonJS", { from: undefined }, "it cannot be found from CommonJS"],
])("one that is not %s is refused with the remedy", (_, changes, why) => {
  const find = (): URL => threadProgram({ ...PROGRAM, ...changes });
  expect(find).toThrow(why);
  expect(find).toThrow(
    "When you bundle, have your bundler make a file of @bridge/mine/thread, and give its URL as threadUrl",
  );
});
