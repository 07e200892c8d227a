import { hash } from "node:crypto";
import type { Job } from "@bridge/core";
import type { DeadLetter } from "@bridge/ports";
import { beforeEach, expect, test } from "vitest";
import { LONG_MS } from "../src/plan/planned-job.ts";
import { JobBooks } from "../src/run/job-books.ts";
import type { Owner } from "../src/time/virtual-time.ts";

const one: Owner = { name: "one", alive: true, pending: 0 };
const other: Owner = { name: "other", alive: true, pending: 0 };
const COUNTS = { succeeded: 0, failed: 0, skipped: 0, inDoubt: 0, restored: 0 };

let told: string[];
let now: number;
let books: JobBooks;
let revision: number;

beforeEach(() => {
  [told, now, revision] = [[], 0, 0];
  books = new JobBooks({
    violated: (words) => told.push(words),
    now: () => now,
    outbox: false,
    fansOut: true,
    measured: true,
    ttlMs: 10_000,
  });
});

function letter(id: string, envelopeId = `of ${id}`): DeadLetter {
  return { id, routeId: "r", bindingId: "out", failedAt: 1, envelope: { id: envelopeId } } as DeadLetter;
}

/** As a store has it after a write. */
function write(changes: Partial<Job>, inTrash = 0): void {
  const job = {
    id: "job",
    state: "running",
    kind: "redrive",
    createdAt: 10,
    query: {},
    attempt: 1,
    total: 2,
    plan: { exact: true },
    counts: COUNTS,
    settings: { concurrency: 1, ramp: [] },
    step: { index: 0, done: 0, failed: 0 },
    pending: [],
    inFlight: 0,
    pace: 0,
    lanes: [{ routeId: "r" }],
    ...changes,
  } as Job;
  const { id, state, createdAt } = job;
  books.written({ id, revision: ++revision, state, createdAt, document: JSON.stringify(job) }, inTrash);
}

const held = (by: Owner): Partial<Job> => ({
  state: "running",
  owner: { instanceId: by.name ?? "", holder: `${by.name}/1`, beat: 1 },
});

function envelopeOf(entryId: string, attempt = 1): string {
  return hash("sha256", JSON.stringify(["replay", "job", entryId, attempt]), "base64url").slice(0, 32);
}

/** A job of two entries, which `one` has. */
function begun(): void {
  for (const id of ["a", "b"]) books.kept(letter(id), true);
  write({ state: "planned" });
  write(held(one));
}

test("a job that delivers one entry, marks the other and ends is well", () => {
  begun();
  for (const id of ["a", "b"]) books.fetches(one, id);
  expect([books.replays.sends(one, envelopeOf("a"), "out"), books.replays.sends(one, envelopeOf("b"), "out")]).toEqual([
    "first",
    "first",
  ]);
  expect(books.replays.sends(one, envelopeOf("b"), "out")).toBe("retry");
  books.replays.heard(one, envelopeOf("a"), "out");
  books.left("a");
  books.marked(one, "b", "job", 1);
  write({ state: "completed", counts: { ...COUNTS, succeeded: 1, failed: 1 } });
  books.close();
  expect(told).toEqual([]);
  expect(books.open).toEqual([]);
});

test("operators 3.4: whoever sends for a job that another has is told of, but for what was under way when that took it", () => {
  begun();
  books.fetches(one, "a");
  write(held(other));
  now = 1_000;
  books.fetches(one, "b");
  books.replays.sends(one, envelopeOf("a"), "out");
  expect(told).toEqual([]);
  books.replays.sends(one, envelopeOf("b"), "out");
  expect(told).toEqual(["one sends b for job, which it has not got"]);
});

test("operators 3.4: what was heard to be delivered, or is marked, is not sent again in the same try", () => {
  begun();
  for (const id of ["a", "b"]) books.fetches(one, id);
  books.replays.sends(one, envelopeOf("a"), "out");
  books.replays.heard(one, envelopeOf("a"), "out");
  expect(books.replays.sends(one, envelopeOf("a"), "out")).toBe("again");
  books.marked(one, "b", "job", 1);
  books.replays.sends(one, envelopeOf("b"), "out");
  expect(told).toEqual([
    "one sends a for job again, which it has heard is delivered",
    "one sends b for job again in the same try, which it has marked",
  ]);
});

test("operators 3.4: an entry of a fan-out is sent to each of its targets, and to none of them again", () => {
  begun();
  books.fetches(one, "a");
  for (const binding of ["out", "other"]) {
    expect(books.replays.sends(one, envelopeOf("a"), binding)).toBe("first");
    books.replays.heard(one, envelopeOf("a"), binding);
  }
  expect(told).toEqual([]);
  write(held(other));
  books.fetches(other, "a");
  for (const binding of ["out", "other"]) expect(books.replays.sends(other, envelopeOf("a"), binding)).toBe("again");
  books.close();
  expect(told).toEqual([]);
  books.replays.heard(other, envelopeOf("a"), "out");
  expect([
    books.replays.sends(other, envelopeOf("a"), "other"),
    books.replays.sends(other, envelopeOf("a"), "out"),
  ]).toEqual(["retry", "again"]);
  expect(told).toEqual(["other sends a for job again, which it has heard is delivered"]);
});

test("operators 3.4: an entry of a whole fan-out is marked by its first leg that fails, and sent on to the others, to none that refused it", () => {
  books.kept({ ...letter("a"), bindingId: "" }, true);
  write({ state: "planned" });
  write(held(one));
  books.fetches(one, "a");
  const send = (binding: string) => books.replays.sends(one, envelopeOf("a"), binding);
  for (const binding of ["out", "moody", "late"]) {
    expect(send(binding)).toBe("first");
    if (binding === "out") books.replays.refused(one, envelopeOf("a"), "out");
    books.marked(one, "a", "job", 1);
  }
  expect(send("moody")).toBe("retry");
  expect(told).toEqual([]);
  send("out");
  expect(told).toEqual(["one sends a for job again in the same try, which it has marked"]);
});

test("an entry counts a try once, however many legs of it fail", () => {
  const { redrives } = books;
  const of = (jobTry: number) => ({ jobId: "job", jobTry });
  for (const [jobTry, count] of [
    [1, 1],
    [1, 1],
    [2, 2],
  ] as const) {
    redrives.failed("a", of(jobTry));
    redrives.counted("a", count);
  }
  expect(told).toEqual([]);
  redrives.failed("a", of(2));
  redrives.counted("a", 3);
  expect(told).toEqual(["entry a counts 3 redrives, and 2 were tried"]);
});

test("operators 3.4: of what an owner leaves behind, as much is sent again as it has at once", () => {
  begun();
  for (const id of ["a", "b"]) {
    books.fetches(one, id);
    books.replays.sends(one, envelopeOf(id), "out");
    books.replays.heard(one, envelopeOf(id), "out");
  }
  write(held(other));
  for (const id of ["a", "b"]) {
    books.fetches(other, id);
    books.replays.sends(other, envelopeOf(id), "out");
  }
  books.close();
  expect(told).toEqual(["job has sent 2 entries again that out had, where 1 would have a cause"]);
});

test("operators 3.4: a replay writes another dead letter only when the original is gone", () => {
  begun();
  books.fetches(one, "a");
  books.fetches(one, "b");
  books.left("a");
  books.kept(letter("a2", envelopeOf("a")), true);
  expect(told).toEqual([]);
  books.kept(letter("b2", envelopeOf("b")), true);
  expect(told).toEqual(["job has written another dead letter for b, which is still there"]);
});

test("operators 3.4: a count without its proof is told of", () => {
  begun();
  books.fetches(one, "a");
  write({ ...held(one), counts: { ...COUNTS, failed: 1 } });
  write({ ...held(one), counts: { ...COUNTS, succeeded: 1 } });
  write({ ...held(one), counts: { ...COUNTS, skipped: 3 } });
  expect(told).toEqual([
    "job counts 1 entries as failed, and 0 are marked or gone",
    "job counts 1 entries as delivered, and 0 dead letters are gone",
    "job has 2 entries, and has done 3",
  ]);
});

test("a job that ends without having tried what it was planned for is told of, and so is one that is over and goes on", () => {
  begun();
  books.left("a");
  write({ state: "completed", counts: { ...COUNTS, skipped: 1 } });
  write(held(one));
  expect(told).toEqual(["job is completed, and entry b was not tried", "job was completed, and is running"]);
});

test("a purge leaves what somebody asks to be redriven to that, and says so, and nothing else", () => {
  for (const id of ["a", "b", "c"]) books.kept(letter(id), true);
  write({ kind: "purge", state: "planned" });
  books.letters.askedFor(["b", "c"]);
  write({ kind: "purge", state: "completed", counts: { ...COUNTS, skipped: 1 } });
  expect(told).toEqual(["job is completed, and entry a is there", "job is completed, and entry c is there"]);
});

test("two jobs under one key are told of", () => {
  write({ state: "planned", asked: { key: "k", body: "b" } });
  write({ id: "second", state: "planned", asked: { key: "k", body: "b" } });
  expect(told).toEqual(["second was asked for under the same key as job"]);
});

test("an undone purge that leaves something in the trash is told of, as is one that has had back more than it took", () => {
  books.kept(letter("a"), true);
  write({ kind: "purge", state: "planned", undoWithinMs: LONG_MS });
  books.left("a");
  books.trashed("job");
  write({ kind: "purge", state: "undone", undoWithinMs: LONG_MS, counts: { ...COUNTS, restored: 2 } }, 1);
  expect(told).toEqual([
    "job has taken 2 entries back, and has had 1",
    "job is undone, and 1 of its entries are in the trash",
  ]);
});

test("a purge takes no more than it has counted: of what failed before it and came later, as much may stay as came", () => {
  books.kept(letter("a"), true);
  write({ kind: "purge", state: "planned", total: 1 });
  books.kept(letter("older by another clock"), true);
  books.left("older by another clock");
  write({ kind: "purge", state: "completed", total: 1, counts: { ...COUNTS, succeeded: 1 } });
  expect(told).toEqual([]);
  books.kept(letter("b"), true);
  write({ id: "next", kind: "purge", state: "planned", total: 2 });
  books.left("a");
  write({ id: "next", kind: "purge", state: "completed", total: 2, counts: { ...COUNTS, succeeded: 1 } });
  expect(told).toEqual(["next is completed, and entry b is there"]);
});

test("a job that stands still says of no more entries that they remain than are there, but for what others have taken", () => {
  begun();
  books.fetches(one, "a");
  books.replays.sends(one, envelopeOf("a"), "out");
  books.left("a");
  const halted = { state: "halted", owner: undefined, plan: { exact: true, total: 2 } } as Partial<Job>;
  write({ ...halted, counts: { ...COUNTS, succeeded: 1 } });
  expect(told).toEqual([]);
  write(held(one));
  write({ ...halted, uncounted: true });
  expect(told).toEqual([]);
  write(held(one));
  write(halted);
  expect(told).toEqual([
    "job is halted, and says that 2 entries remain, where 1 are there, 0 have failed and others took 0",
  ]);
  books.left("b");
  write(held(one));
  write({ ...halted, counts: { ...COUNTS, succeeded: 1 } });
  expect(told).toHaveLength(1);
});

test("what failed before a job by another clock and came later is tried with the rest, and may be among what remains", () => {
  begun();
  const late = ["c", "d"];
  for (const id of late) books.kept(letter(id), true);
  for (const id of ["a", "b", ...late]) books.fetches(one, id);
  // Whoever had it before was killed, and had delivered one of two.
  books.replays.sends(one, envelopeOf("a"), "out");
  books.left("a");
  for (const id of ["b", ...late]) books.marked(one, id, "job", 1);
  const halted = { state: "halted", owner: undefined, plan: { exact: true, total: 2 }, total: 3 } as Partial<Job>;
  write({ ...halted, counts: { ...COUNTS, failed: 3 } });
  write(held(one));
  write({ ...halted, counts: { ...COUNTS, failed: 1 } });
  expect(told).toEqual([]);
  write(held(one));
  write({ ...halted, total: 4, counts: { ...COUNTS, failed: 1 } });
  expect(told).toEqual([
    "job is halted, and says that 3 entries remain, where 3 are there, 1 have failed and others took 0",
  ]);
});

test("what was kept back from a job when it was planned is not among what remains, unless it was let go since", () => {
  for (const id of ["held", "let go"]) {
    books.kept(letter(id), true);
    books.letters.quarantined(id, true);
  }
  begun();
  books.fetches(one, "a");
  books.replays.sends(one, envelopeOf("a"), "out");
  books.left("a");
  const halted = { state: "halted", owner: undefined, plan: { exact: true, total: 2 } } as Partial<Job>;
  write(halted);
  expect(told).toEqual([
    "job is halted, and says that 2 entries remain, where 1 are there, 0 have failed and others took 0",
  ]);
  books.letters.quarantined("let go", false);
  write(held(one));
  write(halted);
  expect(told).toHaveLength(1);
});

test("an entry that a try has marked as failed was taken away by others when it is gone, also in the next try", () => {
  for (const isMarked of [true, false]) {
    begun();
    books.fetches(one, "a");
    books.replays.sends(one, envelopeOf("a"), "out");
    if (isMarked) books.marked(one, "a", "job", 1);
    books.left("a");
    write(held(one));
    write({ state: "halted", owner: undefined, attempt: 2, plan: { exact: true, total: 2 } as Job["plan"] });
    expect(told).toHaveLength(isMarked ? 0 : 1);
    [told, revision] = [[], 0];
  }
});
