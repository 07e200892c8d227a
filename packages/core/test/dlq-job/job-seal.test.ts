import { sealJob } from "@bridge/ports/internal";
import { type Json, placesIn, put, valueAt } from "@bridge/tooling/spoiled";
import { expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { readJob, storedJob } from "../../src/dlq-job/job-document.ts";
import { aJob } from "./a-job.ts";

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

/** `undefined`: it is taken away. */
function othersOf(value: unknown): readonly unknown[] {
  const near = typeof value === "number" ? [value + 1, -value, value * 2] : [!value, `${String(value)}x`];
  return [...near, [value], undefined, null, "", "text", 5, true, [], {}];
}

const STORED = storedJob(WHOLE, 3);

test("a job with all that it can have comes back as it was", () => expect(readJob(STORED)).toEqual(WHOLE));

test("what a release adds without another version comes back, too; a job of another version is a newer release's", () => {
  const of = (more: object) => readJob({ ...STORED, document: sealJob(STORED, JSON.stringify({ ...WHOLE, ...more })) });
  expect(of({ v: 1, later: [1] })).toEqual({ ...WHOLE, later: [1] });
  expect(of({ v: 2 })).toBe("newer");
});

test.each<Partial<Job>>([
  { state: "planned" },
  { state: "running" },
  { state: "paused" },
  { state: "halted" },
  { state: "completed", kind: "purge" },
  WHOLE,
])("whatever somebody makes of any one value in the document of a job (%o), it is damaged", (over) => {
  const stored = storedJob(aJob(over), 3);
  const document = JSON.parse(stored.document) as Json;
  const read: string[] = [];
  let count = 0;
  for (const place of placesIn(document)) {
    for (const other of othersOf(valueAt(document, place))) {
      const copy = structuredClone(document);
      put(copy, place, other);
      const changed = JSON.stringify(copy);
      if (changed === stored.document) continue;
      if (readJob({ ...stored, document: changed }) !== "damaged") read.push(changed);
      count++;
    }
  }
  expect(read).toEqual([]);
  expect(count).toBeGreaterThan(500);
});

test("a document that is cut off, or written otherwise, is damaged", () => {
  const { document } = STORED;
  const others = ["null", "[]", ` ${document}`, `${document} `, JSON.stringify(JSON.parse(document), undefined, 1)];
  for (let length = 0; length < document.length; length++) others.push(document.slice(0, length));
  for (const other of others) expect(readJob({ ...STORED, document: other })).toBe("damaged");
});

test.each([
  { id: "job-2" },
  { revision: 2 },
  { state: "running" },
  { createdAt: 0 },
  { createdAt: 1_001 },
  { createdAt: 4_102_444_800_000 },
])("a document beside which there is %o, with which it was not written, is damaged", (changed) =>
  expect(readJob({ ...STORED, ...changed })).toBe("damaged"),
);

test("of when it was made a store keeps whole milliseconds, and the document all", () => {
  const stored = storedJob(aJob({ createdAt: 1_000.75 }), 1);
  expect(stored.createdAt).toBe(1_000);
  expect(readJob(stored)).toMatchObject({ createdAt: 1_000.75 });
});

test("what a store may hold the ends of a batch against stands at the top of the document, and nowhere else", () => {
  const times = { undoUntil: 7_000, undoWithinMs: 5_000, endedAt: 3_000 };
  const { document } = storedJob({ ...WHOLE, ...times, reason: JSON.stringify({ undoUntil: 1 }) }, 1);
  for (const [name, value] of Object.entries(times)) {
    expect(document.split(`"${name}":`)).toHaveLength(2);
    expect(document).toContain(`"${name}":${value}`);
  }
});
