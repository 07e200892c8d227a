/**
 * The program of a processor's thread: works on one message after another and answers in batches. Nothing of the
 * bridge's own packages is imported here but types, so that it starts from its sources as well as from a build. @module
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Envelope } from "@bridge/ports";
import type { Changes } from "./changes.ts";
import { Refusal } from "./refusal.ts";
import { type Answer, AT, type Job, type ThreadData, type ThreadTask } from "./thread-protocol.ts";

/** So many answers travel together at most, so that the first need not wait for the last of a large batch. */
const ANSWERS_AT_ONCE = 16;

const { task, progress } = workerData as ThreadData;
const work = await compile(task);
disarm();
Atomics.store(progress, 0, AT.rest);

let done = Promise.resolve();
parentPort?.on("message", (jobs: readonly Job[]) => {
  done = done.then(() => carryOut(jobs));
});

/** Loads only the library that the task needs. */
async function compile(wanted: ThreadTask): Promise<(envelope: Envelope) => Promise<Changes> | Changes> {
  if (wanted.kind === "transform") {
    const { compileTransformation } = await import("./transformation.ts");
    return compileTransformation(wanted.config);
  }
  const { compileValidator } = await import("./schema-validator.ts");
  return compileValidator(wanted.schema);
}

/** No text can be made into code any more: whoever breaks out of an expression finds no compiler. */
function disarm(): void {
  for (const kind of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    Reflect.deleteProperty(Object.getPrototypeOf(kind) as object, "constructor");
  }
}

async function carryOut(jobs: readonly Job[]): Promise<void> {
  let answers: Answer[] = [];
  for (const { id, envelope } of jobs) {
    Atomics.store(progress, 0, id);
    answers.push(await answer(id, envelope));
    if (answers.length < ANSWERS_AT_ONCE) continue;
    post(answers);
    answers = [];
  }
  Atomics.store(progress, 0, AT.rest);
  if (answers.length > 0) post(answers);
}

async function answer(id: number, envelope: Envelope): Promise<Answer> {
  try {
    return { id, changes: await work(envelope) };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { id, refusal: { code: thrown.code, message: thrown.message } };
    const name = thrown instanceof Error ? thrown.name : typeof thrown;
    return { id, refusal: { code: "INTERNAL", message: `failed unexpectedly (${name})` } };
  }
}

function post(answers: readonly Answer[]): void {
  const payloads = answers.map((each) => ("changes" in each ? each.changes.payload : undefined));
  parentPort?.postMessage(
    answers,
    payloads.filter((payload) => payload !== undefined).map((payload) => payload.buffer as ArrayBuffer),
  );
}
