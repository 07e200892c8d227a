import { join } from "node:path";
import { fill, openDlq } from "../dlq/dead-letters.ts";
import { Child } from "../harness/child.ts";
import { folder } from "../harness/folder.ts";
import { BINDING, type MillionJob, SIZE, STEP_MS } from "../million/million-job.ts";
import type { Settings } from "./contender.ts";
import type { Measurement, Run } from "./measurement.ts";

const PROGRAM = new URL("../million/main.ts", import.meta.url);
const ENTRIES = 1_000_000;
const ALONE_MS = 10_000;
const TIMEOUT_MS = 1_800_000;

type Step = readonly [name: string, question: string, argument?: unknown];

/** What may be measured by itself: each begins with the same entries and ends with what it takes from them. */
const STEPS = {
  look: [
    ["nothing but traffic", "alone", ALONE_MS],
    ["summary by fingerprint, 48 buckets", "summary"],
    ["first page of 100", "page", 0],
    ["middle page of 100", "page", 0.5],
  ],
  purge: [
    ["plan of a purge", "plan", { kind: "purge", concurrency: 16, part: 1 }],
    ["purge at 10,000/s", "carry out"],
    ["undo", "undo"],
  ],
  "redrive-16": [
    ["plan of a redrive of a tenth", "plan", { kind: "redrive", concurrency: 16, part: 0.1 }],
    ["redrive at 10,000/s, 16 at once", "carry out"],
  ],
  "redrive-64": [
    ["plan of a redrive of the rest", "plan", { kind: "redrive", concurrency: 64, part: 1 }],
    ["redrive at 10,000/s, 64 at once", "carry out"],
  ],
} as const satisfies Readonly<Record<string, readonly Step[]>>;
export type Piece = keyof typeof STEPS;
export const PIECES = Object.keys(STEPS) as readonly Piece[];

/** A million dead letters on a file, in a bridge that carries a route's traffic meanwhile. Once: it takes a quarter of an hour. */
export async function* millionSuite({
  messages: entries = ENTRIES,
  pieces,
  profileDir,
}: Settings): AsyncGenerator<Measurement> {
  await using place = await folder();
  const job: MillionJob = { path: join(place.path, "dlq.db"), entries };
  {
    const begin = performance.now();
    await using store = openDlq(job.path);
    await fill(store, { entries, size: SIZE, bindingId: BINDING, stepMs: STEP_MS });
    const elapsedMs = performance.now() - begin;
    yield measurement("filled by the store's own put, 1,000 at a time", {
      elapsedMs,
      perSecond: (entries / elapsedMs) * 1_000,
    });
  }
  await using child = await Child.start({ program: PROGRAM, job, profileDir });
  const ask = (question: string, argument?: unknown): Promise<Run> => child.ask<Run>(question, argument, TIMEOUT_MS);
  yield measurement("opened and counted", await ask("open"));
  for (const piece of PIECES.filter((one) => pieces.includes(one)))
    for (const [name, question, argument] of STEPS[piece] as readonly Step[])
      yield measurement(name, await ask(question, argument));
}

function measurement(name: string, run: Run): Measurement {
  return { suite: "million", name, runs: { bridge: [run] } };
}
