import { expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { readJob, storedJob } from "../../src/dlq-job/job-document.ts";
import { aJob, asPlanned } from "./a-job.ts";

const at = { failedAt: 1_000, id: "e1" };
const { plan, counts } = aJob();

/** With all that a job can have. */
const WHOLE = {
  ...aJob(),
  requested: { call: "resume", retryFailed: true },
  query: {
    routeId: "r",
    bindingId: "b",
    category: "transient",
    errorCode: "UNAVAILABLE",
    fingerprint: "f",
    envelopeId: "m",
    correlationId: "c",
    subjectPrefix: "s",
    since: 1,
    before: 2,
    assignee: "alice",
    quarantined: true,
    jobId: "job-0",
  },
  limit: 5,
  until: at,
  bindingId: "b",
  undoWithinMs: 1,
  undoUntil: 2,
  plan: {
    ...plan,
    oldestFailedAt: 1,
    newestFailedAt: 2,
    lanes: [{ routeId: "r", count: 1, why: "route is paused" }],
    predicted: { examined: 1, deliverable: 1, expired: 0, filtered: 0, no_route: 0, failed: 0, orderingKeys: 0 },
    sample: [{ id: "e1", subject: "s", failedAt: 1, outcome: "deliverable", address: "a" }],
    warnings: ["w"],
  },
  asked: { key: "k", body: "b" },
  owner: { instanceId: "a", holder: "a/1", beat: 1 },
  startedAt: 1,
  endedAt: 2,
  waitingFor: "the bridge is stopped",
  halted: { at: 1, why: "store", failed: 1, attempts: 2, error: "e" },
  counts: { ...counts, present: 1, gone: 1 },
  pending: ["e1"],
  ahead: ["e2"],
  lanes: [{ routeId: "r", total: 1, done: 0, failed: 0, cursor: at, ended: false, waitingFor: "route is paused" }],
  uncounted: true,
  cursor: at,
  movedAhead: 1,
  toRestore: 1,
  errors: [{ fingerprint: "f", code: "REJECTED", error: "e", count: 1, ids: ["e1"] }],
  unstored: true,
} as const satisfies { readonly [Field in keyof Required<Job>]: Required<Job>[Field] };

const JOB = asPlanned(WHOLE);
const STORED = storedJob(JOB, 1);
const OTHERS: readonly unknown[] = ["text", 5, true, null, [], [null], {}];

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The document with each value of it, however deep, in turn one of another type. */
function* othersOf(value: unknown): Generator {
  for (const other of OTHERS) if (typeOf(other) !== typeOf(value) || JSON.stringify(other) === "[null]") yield other;
  if (typeof value !== "object" || value === null) return;
  for (const [name, field] of Object.entries(value))
    for (const other of othersOf(field))
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
}

test("a job with all that it can have comes back as it was, and with what a later release adds", () => {
  expect(readJob(STORED)).toEqual(JOB);
  const document = JSON.stringify({ ...(JSON.parse(STORED.document) as object), later: [1] });
  expect(readJob({ ...STORED, document })).toMatchObject(JOB);
});

test("a document in which a value, however deep, is of another type is none that can be read", () => {
  let count = 0;
  const read: string[] = [];
  for (const other of othersOf(JSON.parse(STORED.document))) {
    const document = JSON.stringify(other);
    if (readJob({ ...STORED, document }) !== undefined) read.push(document);
    count++;
  }
  expect(read).toEqual([]);
  expect(count).toBeGreaterThan(500);
});

test("a document that is cut off is none that can be read", () => {
  const { document } = STORED;
  for (let length = 0; length < document.length; length++)
    expect(readJob({ ...STORED, document: document.slice(0, length) })).toBeUndefined();
});

test.each<Partial<Job>>([
  { id: "job-2" },
  { state: "running" },
  { kind: "purge" },
  { createdAt: 2_000 },
  { query: {} },
  { query: { ...WHOLE.query, routeId: "other" } },
  { until: undefined },
  { bindingId: undefined },
  { undoWithinMs: 2 },
  { plan: { ...JOB.plan, configVersion: 2 } },
  { plan: { ...JOB.plan, hash: "0".repeat(64) } },
])("a document that says %o, which its row or its plan contradicts, is none that can be read", (changed) => {
  const { document } = storedJob({ ...JOB, ...changed }, 1);
  expect(readJob({ ...STORED, document })).toBeUndefined();
});

test.each([{ state: "running" }, { createdAt: 0 }, { createdAt: 4_102_444_800_000 }])(
  "a document beside which somebody has put %o is none that can be read",
  (changed) => expect(readJob({ ...STORED, ...changed })).toBeUndefined(),
);
