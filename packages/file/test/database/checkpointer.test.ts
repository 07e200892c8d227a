import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { Checkpointer } from "../../src/database/checkpointer.ts";
import { readPieces } from "../../src/database/digests.ts";
import { confirm, openNotes, scratchFolder } from "./support/notes.ts";

test("a thread brings the log into the file, says whether that was all of it, and reads what it was asked to", async () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  const checkpointer = new Checkpointer(scratch.path);
  expect(await checkpointer.open()).toEqual({ isWhole: false, reading: undefined });
  expect(await checkpointer.run()).toEqual({ isWhole: true, reading: undefined });
  const pieces = [{ file: file.log, bytes: 100, at: [0, 200] }];
  expect(await checkpointer.run(pieces)).toEqual({ isWhole: true, reading: readPieces(pieces) });
  expect(await checkpointer.run([{ ...pieces[0]!, file: -1 }])).toEqual({ isWhole: true, reading: undefined });
  await checkpointer.close();
  await checkpointer.close();
  file.close();
});

test("without a thread that has the file open nothing is brought into it", async () => {
  using scratch = scratchFolder();
  const checkpointer = new Checkpointer(scratch.path);
  expect(await checkpointer.run()).toMatchObject({ error: { message: "the checkpoint thread has ended" } });
  await checkpointer.close();
});

test("what SQLite says of the file is told, and tried again the next time", async () => {
  using scratch = scratchFolder();
  const checkpointer = new Checkpointer(`${scratch.path}/missing`);
  for (let i = 0; i < 2; i++)
    expect(await checkpointer.open()).toMatchObject({
      error: { message: "unable to open database file", errcode: 14 },
    });
  await checkpointer.close();
});

test("a thread that has died is told, and another one started", async () => {
  using scratch = scratchFolder();
  new DatabaseSync(scratch.path).close();
  const started: Worker[] = [];
  const dying = "require('node:worker_threads').parentPort.on('message', ({ task }) => process.exit())";
  const throwing = "require('node:worker_threads').parentPort.on('message', () => { throw new Error('no') })";
  const programs = [dying, throwing];
  const checkpointer = new Checkpointer(scratch.path, () => {
    const program = programs.shift();
    if (program === undefined) throw new Error("too many threads");
    const worker = new Worker(program, { eval: true });
    worker.on("error", () => {});
    started.push(worker);
    return worker;
  });
  expect(await checkpointer.open()).toMatchObject({ error: { message: "the checkpoint thread has ended" } });
  expect(await checkpointer.open()).toMatchObject({ error: { message: "no" } });
  expect(await checkpointer.open()).toMatchObject({ error: { message: "too many threads" } });
  expect(started).toHaveLength(2);
  await checkpointer.close();
});

test("one request at a time, and a thread that keeps nothing running nor listens on", async () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  let worker: Worker | undefined;
  const seen: string[] = [];
  const answering = `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', ({ task }) => setTimeout(() => parentPort.postMessage({ isWhole: task === 'checkpoint' }), 20))`;
  const checkpointer = new Checkpointer(scratch.path, () => {
    worker = new Worker(answering, { eval: true });
    for (const kind of ["ref", "unref"] as const) {
      const call = worker[kind].bind(worker);
      worker[kind] = () => (seen.push(kind), call());
    }
    return worker;
  });
  const answers = await Promise.all([checkpointer.open(), checkpointer.run(), checkpointer.open()]);
  expect(answers.map((answer) => answer.error === undefined && answer.isWhole)).toEqual([false, true, false]);
  expect(seen).toEqual(["ref", "unref", "ref", "unref", "ref", "unref"]);
  expect(["message", "error", "exit"].map((event) => worker?.listenerCount(event))).toEqual([0, 0, 0]);
  await checkpointer.close();
  expect(worker?.threadId).toBe(-1);
  file.close();
});

test("a thread that has died while nobody asked it anything takes nothing down, and keeps nobody waiting", async () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  const started: Worker[] = [];
  const note = (worker: Worker): void => void started.push(worker);
  process.on("worker", note);
  const checkpointer = new Checkpointer(scratch.path);
  const end = async (): Promise<void> => {
    const worker = started.at(-1);
    worker?.emit("error", new Error("out of memory"));
    await worker?.terminate();
  };
  expect(await checkpointer.open()).toEqual({ isWhole: false });
  expect(started[0]?.threadName).toBe("checkpointer");
  await end();
  expect(await checkpointer.run()).toMatchObject({ error: { message: "the checkpoint thread has ended" } });
  expect(await checkpointer.open()).toEqual({ isWhole: false });
  await end();
  expect(await checkpointer.open()).toEqual({ isWhole: false });
  expect(await checkpointer.run()).toMatchObject({ isWhole: true });
  await end();
  await checkpointer.close();
  expect(started).toHaveLength(3);
  process.off("worker", note);
  file.close();
});

test("a thread that lets go of a file leaves its log alone: the disk may not have taken all of it", async () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  const checkpointer = new Checkpointer(scratch.path);
  await checkpointer.open();
  const before = readFileSync(scratch.path);
  confirm(file, "a");
  await checkpointer.close();
  expect(readFileSync(scratch.path).equals(before)).toBe(true);
  file.close();
});
