// Imported rather than global, so that a test may replace the global one by a fake.
import { setImmediate } from "node:timers";
import { type ClaimRequest, type OutboxClaim } from "@bridge/ports";
import { orAborted, payloadBytes, spoiledRecord } from "@bridge/ports/internal";
import type { Entry } from "./entry.ts";
import type { Loan } from "./loans.ts";
import type { OutboxParts } from "./outbox-parts.ts";

/** A claim with more payload than this is cut short. */
const CLAIM_BYTES = 8 * 1024 * 1024;

/** Lends what is due and may be sent, oldest first; looks as far into the file as it takes. */
export async function claim(
  parts: OutboxParts,
  { routeId, bindingId, limit, loanMs }: ClaimRequest,
  signal: AbortSignal,
): Promise<readonly OutboxClaim[]> {
  const { file, lanes, loans, window, clock } = parts;
  const taken: Entry[] = [];
  const lent: Loan[] = [];
  // What is sent while its end cannot be written is sent again and again.
  if (!file.writable)
    await orAborted(file.write({ frees: true, bytes: 0, run: (statements) => statements.touch() }), signal);
  const lookFurther = (): boolean =>
    file.read((statements) => {
      loans.lapse();
      const lane = lanes.find(routeId, bindingId);
      if (lane === undefined) return false;
      lane.queue.take(taken, limit, clock.monotonic());
      for (const entry of taken.slice(lent.length)) lent.push(loans.lend(entry, lane, loanMs));
      if (taken.length === limit || !window.canExtend(lane)) return false;
      window.extend(lane, statements);
      return true;
    });
  try {
    while (lookFurther()) {
      // A long queue of records that have to wait must not keep the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) break;
    }
  } catch (error) {
    giveBack(parts, lent);
    throw error;
  }
  return handOut(parts, lent, signal);
}

/** Lends a pending record, due or not. */
export async function claimOne(
  parts: OutboxParts,
  id: string,
  loanMs: number,
  signal: AbortSignal,
): Promise<OutboxClaim | undefined> {
  const { file, lanes, loans, window } = parts;
  const loan = file.read((statements) => {
    loans.lapse();
    const row = statements.byId(id);
    if (row === undefined || row.status !== 0 || !window.isDurable(row.number)) return undefined;
    const former = loans.of(row.number);
    if (former !== undefined && !former.lapsed) return undefined;
    const lane = lanes.numbered(row.lane);
    if (lane === undefined) return undefined;
    const entry = window.entryFor(lane, row);
    entry.place = "lent";
    return loans.lend(entry, lane, loanMs);
  });
  if (loan === undefined) return undefined;
  const [claimed] = handOut(parts, [loan], signal);
  if (claimed === undefined) throw spoiledRecord(id);
  return claimed;
}

/**
 * Reads the records; what is too much for one claim goes back, and so does everything when they cannot be read. One that is
 * not as it was written leaves the order of its lane.
 */
function handOut(parts: OutboxParts, taken: readonly Loan[], signal: AbortSignal): OutboxClaim[] {
  const { file, loans, window, spoiledRecords, clock } = parts;
  const claims: OutboxClaim[] = [];
  const unread: Loan[] = [];
  let seen = 0;
  let given = 0;
  try {
    signal.throwIfAborted();
    file.read((statements) => {
      let bytes = 0;
      for (const loan of taken) {
        if (bytes >= CLAIM_BYTES) break;
        const { lane, entry, token } = loan;
        const record = window.contentOf(lane, entry, statements);
        seen++;
        if (record === undefined) {
          unread.push(loan);
          continue;
        }
        bytes += payloadBytes(record);
        claims.push({ record, token, attempts: entry.attempts });
      }
    });
    given = seen;
    for (const loan of unread) {
      loans.end(loan);
      loan.lane.queue.remove(loan.entry, clock.monotonic());
      spoiledRecords.found(loan.entry, loan.lane);
    }
    return claims;
  } finally {
    giveBack(parts, taken.slice(given));
  }
}

function giveBack({ loans, clock }: OutboxParts, lent: readonly Loan[]): void {
  for (const loan of lent) {
    loans.end(loan);
    loan.lane.queue.giveBack(loan.entry, clock.monotonic());
  }
}
