import assert from "node:assert/strict";
import { type DeadLetter, type DeadLetterMarks, type DlqStore, type MarkChange, marked } from "@bridge/ports";
import { adminOf, assertAborts, assertSame, putAll, withRestart, withStore, withTwo } from "./check.ts";
import { at, deadLetter, deadLetters, ENTRIES } from "./dead-letters.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { redriven } from "./marked-entries.ts";
import { marksOf, pageOf } from "./parts.ts";

const ALL = { limit: 100, offset: 0 };
const CHANGES: readonly MarkChange[] = [
  { note: note(1, "asked the shop team") },
  { assignee: "alice", at: at(5) },
  { quarantined: true, at: at(6) },
  { redriven: redriven("job-1") },
  { redriven: { lastAt: at(4), lastCode: "FORBIDDEN", lastError: "403 “no”" } },
  { note: note(2, "Zoë \"quoted\" \\ 'single' \u0007 💶"), assignee: "bob", quarantined: false, at: at(7) },
  { assignee: "" },
];

/** Marks. */
export const MARKING_CHECKS = {
  "shows marks wherever an entry is shown, and leaves the rest of it alone": withStore(async (store, signal) => {
    const entry = deadLetter("a");
    await store.put(entry, signal);
    let marks: DeadLetterMarks | undefined;
    for (const change of CHANGES) {
      await mark(store, "a", change, signal);
      marks = marked(marks, change);
      await assertMarks(store, entry, marks, signal);
    }
  }),
  "an entry whose marks are all taken away has none": withStore(async (store, signal) => {
    const entry = deadLetter("a");
    await store.put(entry, signal);
    await mark(store, "a", { assignee: "alice", quarantined: true }, signal);
    await mark(store, "a", { assignee: "", quarantined: false }, signal);
    await assertMarks(store, entry, undefined, signal);
  }),
  "marks 1,000 entries at once, and tells which were there": withStore(async (store, signal) => {
    const entries = deadLetters(999);
    await putAll(store, entries, signal);
    const ids = entries.map(({ id }) => id);
    const changes = new Map([...ids, "unknown"].map((id) => [id, { assignee: `of ${id}` }]));
    assert.deepEqual(new Set(await marksOf(store).mark(changes, signal)), new Set(ids));
    const heads = await store.list({}, { limit: 1_000, offset: 0 }, signal);
    for (const { id, marks } of heads) assert.equal(marks?.assignee, `of ${id}`);
    assert.equal(heads.length, 999);
  }),
  "marks nothing when given nothing": withStore(async (store, signal) => {
    assert.deepEqual(await marksOf(store).mark(new Map(), signal), new Set());
  }),
  "keeps marks within their bounds, the last notes": withStore(async (store, signal) => {
    await store.put(deadLetter("a"), signal);
    let marks: DeadLetterMarks | undefined;
    for (let i = 0; i < 25; i++) {
      const change = { note: note(i, `${i} ${"x".repeat(i < 22 ? 10 : 1_000)}`) };
      await mark(store, "a", change, signal);
      marks = marked(marks, change);
    }
    await assertMarks(store, deadLetter("a"), marks, signal);
  }),
  "operators 1.5: two writers of marks on one entry both survive": withTwo(async (one, other, signal) => {
    await putAll(one, ENTRIES.slice(0, 3), signal);
    const writes = Array.from({ length: 18 }, (_, i) =>
      mark(i % 2 === 0 ? one : other, "e0001", { note: note(i, `${i}`), redriven: redriven(`job-${i}`) }, signal),
    );
    await Promise.all([...writes, mark(one, "e0001", { assignee: "alice" }, signal)]);
    await mark(other, "e0001", { quarantined: true }, signal);
    const marks = (await one.get("e0001", signal))?.marks;
    assert.deepEqual(
      marks?.notes?.map(({ at: when }) => when).toSorted((a, b) => a - b),
      Array.from({ length: 18 }, (_, i) => at(i)),
    );
    assert.equal(marks.redrives?.count, 18);
    assert.equal(marks.assignee, "alice");
    assert.equal(marks.quarantined, true);
  }),
  "writing an entry brings no marks, and writing it again takes none away": withStore(async (store, signal) => {
    await store.put({ ...deadLetter("a"), marks: { assignee: "nobody" } }, signal);
    await assertMarks(store, deadLetter("a"), undefined, signal);
    await mark(store, "a", { assignee: "alice" }, signal);
    await store.put(deadLetter("a", { reason: "again" }), signal);
    await assertMarks(store, deadLetter("a"), { assignee: "alice" }, signal);
  }),
  "an entry that was deleted and is written again has no marks": withStore(async (store, signal) => {
    await store.put(deadLetter("a"), signal);
    await mark(store, "a", { quarantined: true }, signal);
    await adminOf(store).delete(["a"], signal);
    await store.put(deadLetter("a"), signal);
    await assertMarks(store, deadLetter("a"), undefined, signal);
  }),
  "marks survive an abrupt end": withRestart(
    async (store, signal) => {
      await store.put(deadLetter("a"), signal);
      await mark(store, "a", { note: note(1, "first") }, signal);
    },
    (store, signal) => assertMarks(store, deadLetter("a"), marked(undefined, { note: note(1, "first") }), signal),
  ),
  "an aborted mark rejects with the signal's reason and marks nothing": assertAborts(
    (store, signal) => mark(store, "e0000", { assignee: "alice" }, signal),
    async (store, signal) => assert.equal((await store.get("e0000", signal))?.marks, undefined),
  ),
} as const satisfies Record<string, DlqPartCheck>;

function note(index: number, text: string): NonNullable<MarkChange["note"]> {
  return { at: at(index), by: "alice", text };
}

async function mark(store: DlqStore, id: string, change: MarkChange, signal: AbortSignal): Promise<void> {
  assert.deepEqual(new Set(await marksOf(store).mark(new Map([[id, change]]), signal)), new Set([id]));
}

/** That an entry has these marks and is as it was written. */
async function assertMarks(
  store: DlqStore,
  entry: DeadLetter,
  marks: DeadLetterMarks | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { marks: read, ...rest } = (await store.get(entry.id, signal)) ?? {};
  assert.deepEqual(plain(read), plain(marks));
  assertSame(rest as DeadLetter, entry);
  const [listed] = await store.list({}, ALL, signal);
  assert.deepEqual(plain(listed?.marks), plain(marks));
  if (store.page === undefined) return;
  const { entries } = await pageOf(store, {}, {}, signal);
  assert.deepEqual(plain(entries[0]?.marks), plain(marks));
}

/** Without what is `undefined`. */
function plain(marks: DeadLetterMarks | undefined): unknown {
  return marks === undefined ? undefined : JSON.parse(JSON.stringify(marks));
}
