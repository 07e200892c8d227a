import fc from "fast-check";
import { expect, test } from "vitest";
import { type DeadLetterMarks, type MarkChange, marked } from "../src/index.ts";

const note = fc.record({ at: fc.nat(), by: fc.string({ maxLength: 64 }), text: fc.string({ maxLength: 1_000 }) });
const change: fc.Arbitrary<MarkChange> = fc.record(
  {
    note,
    assignee: fc.constantFrom("", "alice", "bob"),
    quarantined: fc.boolean(),
    redriven: fc.record({
      lastAt: fc.nat(),
      lastCode: fc.constantFrom("UNAVAILABLE" as const, "TIMEOUT" as const),
      lastError: fc.string({ maxLength: 3_000 }),
      jobId: fc.constant("job-1"),
    }),
  },
  { requiredKeys: [] },
);

test("operators 1.4: marks stay within their bounds, whatever is added, and keep the newest notes", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      let marks: DeadLetterMarks | undefined;
      for (const each of changes) marks = marked(marks, each);
      expect(Buffer.byteLength(JSON.stringify(marks ?? {}))).toBeLessThanOrEqual(8 * 1024);
      const notes = marks?.notes ?? [];
      expect(notes.length).toBeLessThanOrEqual(20);
      const given = changes.flatMap((each) => (each.note === undefined ? [] : [each.note]));
      expect(notes).toEqual(given.slice(given.length - notes.length));
      expect(marks?.redrives?.count ?? 0).toBe(changes.filter((each) => each.redriven !== undefined).length);
    }),
  );
});

test("an empty assignee clears it, and without anything left there are no marks", () => {
  const marks = marked(undefined, { assignee: "alice", quarantined: true });
  expect(marks).toEqual({ assignee: "alice", quarantined: true });
  expect(marked(marks, { assignee: "" })).toEqual({ quarantined: true });
  expect(marked({ quarantined: true }, { quarantined: false })).toBeUndefined();
});
