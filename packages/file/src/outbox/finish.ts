import type { ClaimEnd } from "@bridge/ports";
import type { Lane } from "./lane.ts";
import type { Loan } from "./loans.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { STATUSES } from "./record-rows.ts";

const END_BYTES = 64;
const NOT_LENT = Promise.resolve(false);

interface Ending {
  readonly loan: Loan;
  readonly outcome: ClaimEnd["outcome"];
}

/**
 * Ends loans. One whose end is being written is not ended twice: who says it again is told that it was ended, when that is
 * durable, and what it has become the status says.
 */
export async function finish(parts: OutboxParts, ends: readonly ClaimEnd[]): Promise<readonly boolean[]> {
  const { loans } = parts;
  const endings: Ending[] = [];
  const written = Promise.withResolvers<boolean>();
  const answers = ends.map((end) => {
    const loan = loans.given(end);
    if (loan === undefined) return NOT_LENT;
    if (loan.ending !== undefined) return loan.ending.then(() => false);
    loans.begin(loan, written.promise);
    endings.push({ loan, outcome: end.outcome });
    return written.promise;
  });
  if (endings.length > 0) write(parts, endings).then(() => written.resolve(true), written.reject);
  return Promise.all(answers);
}

async function write({ file, loans, clock }: OutboxParts, endings: readonly Ending[]): Promise<void> {
  const now = clock.now();
  const runs = runsOf(endings);
  try {
    await file.write({
      frees: true,
      bytes: endings.length * END_BYTES,
      run(statements) {
        for (const { loan, outcome } of endings) {
          if (outcome.kind !== "retry") continue;
          const { attempts, delayMs } = outcome;
          statements.retry(loan.entry.number, attempts, now + delayMs, delayMs);
        }
        return runs.map(({ from, upTo, status }) => statements.finish(from, upTo, status, now));
      },
      done(finished) {
        for (const [index, { lane }] of runs.entries()) lane.depth -= finished[index] ?? 0;
        for (const { loan, outcome } of endings) {
          const { lane, entry } = loan;
          loans.end(loan);
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

/** Records of one lane with numbers one after another that end alike: they are finished in one statement. */
interface Run {
  readonly lane: Lane;
  readonly status: number;
  readonly from: number;
  upTo: number;
}

function runsOf(endings: readonly Ending[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { loan, outcome } of endings.toSorted((a, b) => a.loan.entry.number - b.loan.entry.number)) {
    if (outcome.kind === "retry") continue;
    const { lane, entry } = loan;
    const status = STATUSES.indexOf(outcome.kind);
    const last = runs.at(-1);
    if (last?.lane === lane && last.status === status && last.upTo === entry.number - 1) last.upTo = entry.number;
    else runs.push({ lane, status, from: entry.number, upTo: entry.number });
  }
  return runs;
}
