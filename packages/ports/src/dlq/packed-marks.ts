import type { DeadLetterMarks } from "../dead-letter-marks.ts";

/** Marks as a store keeps them, beside the entry; `null`: none. */
export function packMarks(marks: DeadLetterMarks | undefined): string | null {
  return marks === undefined ? null : JSON.stringify(marks);
}

/** What was packed. What somebody has made unreadable is none, so that the entry is shown all the same. */
export function marksIn(text: string | null | undefined): DeadLetterMarks | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    const marks: unknown = JSON.parse(text);
    return isMarks(marks) ? marks : undefined;
  } catch {
    return undefined;
  }
}

function isMarks(value: unknown): value is DeadLetterMarks {
  if (!isRecord(value)) return false;
  const { redrives, assignee, assignedAt, quarantined, quarantinedAt, notes } = value;
  return (
    Object.keys(value).length > 0 &&
    (redrives === undefined || isRedrives(redrives)) &&
    (assignee === undefined || typeof assignee === "string") &&
    (quarantined === undefined || quarantined === true) &&
    [assignedAt, quarantinedAt].every((at) => at === undefined || Number.isFinite(at)) &&
    (notes === undefined || (Array.isArray(notes) && notes.every(isNote)))
  );
}

function isRedrives(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { count, lastAt, lastCode, lastError, jobId, jobTry } = value;
  return (
    [count, lastAt].every(Number.isFinite) &&
    [lastCode, lastError].every((text) => typeof text === "string") &&
    (jobId === undefined || typeof jobId === "string") &&
    (jobTry === undefined || Number.isFinite(jobTry))
  );
}

function isNote(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { at, by, text } = value;
  return Number.isFinite(at) && typeof by === "string" && typeof text === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
