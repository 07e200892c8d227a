import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SuiteClock } from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readContent } from "../src/content.ts";
import { openConfigFile } from "../src/index.ts";
import { parseDocument } from "../src/parse-document.ts";
import { TextThread, ThreadError } from "../src/text-thread.ts";
import type { Task } from "../src/thread-protocol.ts";

const NEVER = new AbortController().signal;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "bridge-thread-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const textOf = (routes: number): string =>
  `# ours\nroutes:\n${Array.from({ length: routes }, (_, at) => `  - id: route-${at}\n    bindings: [a, b]\n`).join("")}`;

const readTask = (): Task => ({ kind: "read", bytes: new Uint8Array(Buffer.from("a: 1\n")) });

/** A program for the thread that does this with its first task. */
function program(act: string): URL {
  const file = join(folder, "program.mjs");
  writeFileSync(file, `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { ${act} });`);
  return pathToFileURL(file);
}

const threads = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "MessagePort").length;

async function until(condition: () => boolean): Promise<void> {
  const bound = AbortSignal.timeout(20_000);
  while (!condition()) {
    bound.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** CPU time of this thread, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The longest turn of the event loop while `work` goes on. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, before, watching] = [0, cpuMs(), true];
  const turn = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (watching) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  watching = false;
  await new Promise(setImmediate);
  return longest;
}

describe("finding 5.7: a long file that others are served beside", () => {
  it("holds no turn for as long as it takes to read it, when it has changed and when it is written", async () => {
    const path = join(folder, "bridge.yaml");
    writeFileSync(path, "a: 1\n");
    await using store = openConfigFile(path);
    await store.load(NEVER);
    const text = textOf(4_000);
    parseDocument(text);
    const began = cpuMs();
    parseDocument(text);
    const inOnePiece = cpuMs() - began;
    writeFileSync(path, text);
    expect(await longestTurn(() => store.load(NEVER))).toBeLessThan(inOnePiece / 3);
    const stored = await store.load(NEVER);
    if (stored === undefined) throw new Error("there is nothing");
    const next = { ...stored.document, added: 1 };
    expect(await longestTurn(() => store.write(next, stored, NEVER))).toBeLessThan(inOnePiece / 3);
    expect((await store.load(NEVER))?.document).toEqual({ ...next, config_version: 1 });
  });

  it("is told with the same lines, whether it was there at the start or not", async () => {
    const path = join(folder, "bridge.yaml");
    const broken = 'a: 1\nb: [1, 2\nc: "d\n';
    writeFileSync(path, broken);
    const atTheStart = await openConfigFile(path).load(NEVER).catch(String);
    expect(atTheStart).toMatch(/bridge\.yaml:3:1 the indentation does not fit/);
    for (const content of [broken, Buffer.from([0xff]), "- 1\n", "a: &x [*x]\n"]) {
      writeFileSync(path, content);
      const first = await openConfigFile(path).load(NEVER).catch(String);
      await using store = openConfigFile(path);
      writeFileSync(path, "a: 1\n");
      await store.load(NEVER);
      writeFileSync(path, content);
      expect(await store.load(NEVER).catch(String)).toBe(first);
    }
  });
});

it("a text that is nested too deep is told as such, and fails nothing else", async () => {
  const path = join(folder, "bridge.yaml");
  writeFileSync(path, "a: 1\n");
  await using store = openConfigFile(path);
  await store.load(NEVER);
  writeFileSync(path, "[".repeat(100_000));
  await expect(store.load(NEVER)).rejects.toThrow(/bridge\.yaml:1:\d+ is nested too deep/);
});

describe("the thread", () => {
  it.each([
    ["ends by itself", "process.exit()", "it exited"],
    ["fails", "throw new Error('broken')", "broken"],
    [
      "needs too much memory",
      "throw Object.assign(new Error(), {code: 'ERR_WORKER_OUT_OF_MEMORY'})",
      /more than \d+ MiB/,
    ],
  ])("that %s fails its task, and says so", async (_, act, why) => {
    await using thread = new TextThread(systemClock, program(act));
    const failed = thread.do(readTask(), NEVER);
    await expect(failed).rejects.toBeInstanceOf(ThreadError);
    await expect(failed).rejects.toThrow(why);
    expect(threads()).toBe(0);
  });

  it.each([
    new URL("not-there.js", import.meta.url),
    new URL("https://cdn.example/not-there.js"),
    new URL("data:text/javascript,/not-there.js"),
  ])("whose program is no file is refused before anything is read, and the remedy told: %s", (threadUrl) => {
    const remedy = /threadUrl .*not-there\.js.*make a file of @bridge\/config-file\/thread.*threadUrl/;
    expect(() => openConfigFile("bridge.yaml", { threadUrl })).toThrow(remedy);
  });

  it("whose program is gone when it is wanted fails its task", async () => {
    const threadUrl = program("");
    await using thread = new TextThread(systemClock, threadUrl);
    rmSync(threadUrl);
    await expect(thread.do(readTask(), NEVER)).rejects.toBeInstanceOf(ThreadError);
  });

  it("runs the program that the store is told", async () => {
    const path = join(folder, "bridge.yaml");
    const answer = '{ kind: "problems", problems: [{ message: "mine" }] }';
    writeFileSync(path, "a: 1\n");
    await using store = openConfigFile(path, { threadUrl: program(`parentPort.postMessage(${answer})`) });
    await store.load(NEVER);
    writeFileSync(path, "a: 2\n");
    await expect(store.load(NEVER)).rejects.toThrow(/bridge\.yaml mine/);
  });

  it("that fails makes a text unavailable that somebody sends or wants to see, whatever the text is", async () => {
    const path = join(folder, "bridge.yaml");
    writeFileSync(path, "a: 1\n");
    await using store = openConfigFile(path, { threadUrl: program('throw new Error("its folder is gone")') });
    const unavailable: unknown = expect.objectContaining({
      code: "UNAVAILABLE",
      message: expect.stringContaining("its folder is gone") as string,
    });
    await expect(store.texts.read("a: 2", NEVER)).rejects.toEqual(unavailable);
    await expect(store.texts.edit("a: 2", { a: 3 }, [], NEVER)).rejects.toEqual(unavailable);
  });

  it("that is not done in a minute is ended, and the next task has a new one", async () => {
    const clock = new SuiteClock(0);
    await using thread = new TextThread(clock, program("for (;;);"));
    for (let tries = 0; tries < 2; tries++) {
      const failed = thread.do(readTask(), NEVER);
      const ended = failed.catch(() => {});
      await until(() => threads() === 1);
      await clock.pass(60_000);
      await ended;
      await expect(failed).rejects.toThrow("it was not done within 60 s");
      expect(threads()).toBe(0);
    }
  });

  it("is ended when nobody waits any more for what it works on, and what waits for it goes on", async () => {
    await using thread = new TextThread(
      systemClock,
      program(
        "if (globalThis.worked) for (;;); globalThis.worked = true; parentPort.postMessage({ kind: 'problems', problems: [] })",
      ),
    );
    const reason = new Error("nobody waits");
    const given = new AbortController();
    await thread.do(readTask(), NEVER);
    const hanging = thread.do(readTask(), given.signal);
    const next = thread.do(readTask(), NEVER);
    await new Promise(setImmediate);
    given.abort(reason);
    await expect(hanging).rejects.toBe(reason);
    expect(await next).toEqual({ kind: "problems", problems: [] });
  });

  it("ends after a while without a task, and starts again with the next", async () => {
    const clock = new SuiteClock(0);
    await using thread = new TextThread(clock);
    const value = expect.objectContaining({ kind: "value" }) as unknown;
    expect(await thread.do(readTask(), NEVER)).toEqual(value);
    expect(threads()).toBe(0); // at rest it keeps no process alive
    await clock.pass(20_000);
    expect(await thread.do(readTask(), NEVER)).toEqual(value);
  });

  it("that is closed ends at once, whatever it works on", async () => {
    const thread = new TextThread(systemClock, program("for (;;);"));
    const ended = thread.do(readTask(), NEVER).catch(String);
    await until(() => threads() === 1);
    await thread[Symbol.asyncDispose]();
    expect(await ended).toMatch("it was closed");
    expect(threads()).toBe(0);
  });

  it("that has failed makes no file unreadable for ever", async () => {
    const path = join(folder, "bridge.yaml");
    writeFileSync(path, "a: 1\n");
    const failing = (): never => {
      throw new ThreadError("it exited");
    };
    const failed = await readContent(path, path, undefined, failing, NEVER);
    expect(failed).toMatchObject({
      kind: "unreadable",
      error: { message: expect.stringContaining("it exited") as string },
    });
    const again = await readContent(path, path, failed, () => ({ value: { a: 1 } }), NEVER);
    expect(again).toMatchObject({ kind: "stored", stored: { document: { a: 1 } } });
  });
});
