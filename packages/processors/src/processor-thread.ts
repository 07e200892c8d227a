/**
 * The program of a processor's thread: works on one message after another and answers in batches. Nothing of the
 * bridge's own packages is imported here but types, so that it starts from its sources as well as from a build. @module
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Envelope } from "@bridge/ports";
import type { Changes } from "./changes.ts";
import { disarm } from "./disarm.ts";
import { Refusal } from "./refusal.ts";
import { type Answer, AT, type Job, type ThreadData, type ThreadTask } from "./thread-protocol.ts";

/** Answers travel together, but the first does not wait for many others, nor for long. */
const TOGETHER = { answers: 16, ms: 5 };

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

async function carryOut(jobs: readonly Job[]): Promise<void> {
  let answers: Answer[] = [];
  let posted = performance.now();
  for (const { id, envelope } of jobs) {
    Atomics.store(progress, 0, id);
    answers.push(await answer(id, envelope));
    if (answers.length < TOGETHER.answers && performance.now() - posted < TOGETHER.ms) continue;
    post(answers);
    answers = [];
    posted = performance.now();
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
