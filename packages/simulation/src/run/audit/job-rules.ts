import { isOver, type Job, progressOf } from "@bridge/core";
import { LONG_MS } from "../../plan/planned-job.ts";
import type { DlqLetters } from "./dlq-letters.ts";
import type { KnownJob } from "./known-job.ts";

/** Of a document that was written after `before`: what it says that cannot be, as far as is known. */
export function* impossibleIn({ document, trashed, gone, marked }: KnownJob, before: Job): Generator<string> {
  const { id, kind, counts, total, attempt, state } = document;
  const { succeeded, failed, skipped, restored, present = 0 } = counts;
  const { percent, remaining, step } = progressOf(document);
  if (succeeded + failed + skipped > total)
    yield `${id} has ${total} entries, and has done ${succeeded + failed + skipped}`;
  else if (percent > 100 || remaining < 0 || (percent === 100 && remaining > 0) || step.index > step.of)
    yield `${id} shows ${percent} %, ${remaining} left, step ${step.index} of ${step.of}`;
  if (isOver(before.state) && before.state !== state && state !== "undoing")
    yield `${id} was ${before.state}, and is ${state}`;
  if (restored + present > trashed) yield `${id} has taken ${restored + present} entries back, and has had ${trashed}`;
  if (kind !== "redrive") return;
  if (succeeded > gone.size)
    yield `${id} counts ${succeeded} entries as delivered, and ${gone.size} dead letters are gone`;
  const tried = marked.get(attempt) ?? new Set();
  const provable = new Set([...tried, ...gone]).size;
  if (failed > tried.size && failed > provable)
    yield `${id} counts ${failed} entries as failed, and ${provable} are marked or gone`;
}

const STANDING: readonly Job["state"][] = ["paused", "halted", "cancelled"];

/**
 * Of a redrive that has come to stand still, in nobody's hands any more: no more of it remains than what is there and has not failed,
 * what has joined it included, but for what others have taken away, and what an outbox goes on delivering, also of an owner that was
 * killed. `mayHaveSucceeded`: the job itself may have delivered the entry.
 */
export function* tooManyRemaining(
  { document, set, heldBack, came }: KnownJob,
  before: Job,
  letters: DlqLetters,
  mayHaveSucceeded: (entryId: string) => boolean,
): Generator<string> {
  const { id, kind, state, owner, uncounted, counts, plan, pending, until } = document;
  if (kind !== "redrive" || before.owner === undefined || owner !== undefined || !STANDING.includes(state)) return;
  // Its store has not told what a former owner had done.
  if (uncounted === true) return;
  const isIn = ([entryId]: readonly [string, number]): boolean => {
    const letter = letters.of(entryId);
    return letter !== undefined && !isBehind({ id: entryId, failedAt: letter.failedAt }, until);
  };
  const planned = [...set].filter(isIn);
  // What was kept back at first, and has been let go, joins the others.
  const letGo = [...heldBack].filter(([entryId]) => letters.of(entryId)?.isQuarantined === false);
  const joined = [...letters.joined(document, came), ...letGo].filter(isIn);
  let [there, others] = [0, 0];
  for (const [entryId, spell] of [...planned, ...joined]) {
    if (letters.spellOf(entryId) === spell) there++;
    else if (!mayHaveSucceeded(entryId)) others++;
  }
  const delivering = pending.length + counts.inDoubt;
  const most = there - counts.failed + others + delivering + Math.max(0, plan.total - planned.length);
  const { remaining } = progressOf(document);
  if (remaining > most)
    yield `${id} is ${state}, and says that ${remaining} entries remain, where ${there} are there, ${counts.failed} have failed and others took ${others}`;
}

/** Of a job that is completed: what it was planned for and is still there has been tried; what a purge was for is gone. */
export function* leftUndone({ document, set, came, marked }: KnownJob, letters: DlqLetters): Generator<string> {
  const { id, kind, attempt, until, lanes, counts } = document;
  // A purge takes no more than it has counted, the oldest first: others may have come into their place.
  let joined = kind === "purge" ? letters.joined(document, came).size : 0;
  // What is being redriven it leaves to that, and says so.
  let left = kind === "purge" ? counts.skipped : 0;
  const routes = new Set(lanes.map(({ routeId }) => routeId));
  const tried = marked.get(attempt) ?? new Set<string>();
  for (const [entryId, spell] of set) {
    const letter = letters.of(entryId);
    if (letter?.here !== true || letter.spell !== spell) continue;
    const { failedAt } = letter;
    if (
      isBehind({ id: entryId, failedAt }, until) ||
      (kind === "redrive" && (!routes.has(letter.routeId) || tried.has(entryId) || letter.wasQuarantined))
    )
      continue;
    if ((letter.wasAskedFor && left-- > 0) || joined-- > 0) continue;
    yield `${id} is completed, and entry ${entryId} ${kind === "redrive" ? "was not tried" : "is there"}`;
  }
}

/** Of a job that is undone: nothing that it could have back is left in the trash. */
export function* leftInTrash({ id, undoWithinMs = 0 }: Job, inTrash: number): Generator<string> {
  if (undoWithinMs >= LONG_MS && inTrash > 0) yield `${id} is undone, and ${inTrash} of its entries are in the trash`;
}

/** Whether it comes after the last one that a limit lets in. */
function isBehind({ id, failedAt }: NonNullable<Job["until"]>, until: Job["until"]): boolean {
  return until !== undefined && (failedAt > until.failedAt || (failedAt === until.failedAt && id > until.id));
}
