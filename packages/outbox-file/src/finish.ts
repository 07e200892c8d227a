import type { ClaimEnd } from "@bridge/ports";
import type { Loan } from "./loans.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import type { OutboxStatements } from "./outbox-statements.ts";
import { STATUSES } from "./record-rows.ts";

const END_BYTES = 64;
const NOT_LENT = Promise.resolve(false);

interface Ending {
  readonly loan: Loan;
  readonly outcome: ClaimEnd["outcome"];
}

/** Ends loans. One whose end is being written is not ended twice: who says it again gets the same answer. */
export async function finish(parts: OutboxParts, ends: readonly ClaimEnd[]): Promise<readonly boolean[]> {
  const { loans } = parts;
  const endings: Ending[] = [];
  const written = Promise.withResolvers<boolean>();
  const answers = ends.map(({ id, token, outcome }) => {
    const loan = loans.of(id);
    if (loan?.token !== token) return NOT_LENT;
    if (loan.ending !== undefined) return loan.ending.then(() => false);
    loans.begin(loan, written.promise);
    endings.push({ loan, outcome });
    return written.promise;
  });
  if (endings.length > 0) write(parts, endings).then(() => written.resolve(true), written.reject);
  return Promise.all(answers);
}

async function write({ file, loans, clock }: OutboxParts, endings: readonly Ending[]): Promise<void> {
  const now = clock.now();
  try {
    await file.write({
      frees: true,
      bytes: endings.length * END_BYTES,
      run: (statements) => endings.map((ending) => enter(statements, ending, now)),
      done(finished) {
        for (const [index, { loan, outcome }] of endings.entries()) {
          const { lane, entry } = loan;
          loans.end(loan);
          if (finished[index] === true) lane.depth--;
          if (outcome.kind === "retry") {
            entry.attempts = outcome.attempts;
            entry.dueAt = clock.monotonic() + outcome.delayMs;
            lane.queue.giveBack(entry, clock.monotonic());
          } else {
            lane.queue.remove(entry, clock.monotonic());
          }
        }
      },
    });
  } catch (error) {
    for (const { loan } of endings) loans.resume(loan);
    throw error;
  }
}

/** Whether the record was unfinished before and is finished now. */
function enter(statements: OutboxStatements, { loan: { entry }, outcome }: Ending, now: number): boolean {
  if (outcome.kind === "retry") {
    statements.retry(entry.number, outcome.attempts, now + outcome.delayMs, outcome.delayMs);
    return false;
  }
  const unfinished = statements.deleteContent(entry.number);
  statements.finish(entry.number, STATUSES.indexOf(outcome.kind), now);
  return unfinished;
}
