import { type Detail, HttpError } from "@bridge/http-kit";
import type { DeadLetterFilter } from "@bridge/ports";
import type { BridgeAccess } from "./bridge-access.ts";
import { LIMITS } from "./limits.ts";

interface Deletion {
  readonly filter: DeadLetterFilter;
  readonly limit: number;
  /** What the audit record says of a deletion that failed after so many. */
  readonly told: (deleted: number) => Detail;
}

/** `has_more`: it ended because its time was up. */
interface Deleted {
  readonly count: number;
  readonly has_more?: true;
}

/**
 * Deletes the oldest entries that match, in batches, so that being many is no failure: none begins once the operation timeout
 * is over. What was deleted is known at any time, and told also when a batch fails.
 *
 * @throws HttpError of the batch that failed, with how many were deleted before it
 */
export async function deleteInBatches(bridge: BridgeAccess, { filter, limit, told }: Deletion): Promise<Deleted> {
  const { clock } = bridge;
  const end = clock.monotonic() + bridge.operationTimeoutMs;
  let count = 0;
  while (count < limit) {
    if (count > 0 && clock.monotonic() >= end) return { count, has_more: true };
    const size = Math.min(LIMITS.deleteBatch, limit - count);
    const unsure = `up to ${size} entries may be deleted or not: look at what is left before you repeat the call`;
    let batch: number;
    try {
      const { dlqAdmin } = bridge;
      batch = await bridge.changing(unsure, (signal) => dlqAdmin.deleteWhere(filter, size, signal));
    } catch (error) {
      throw count === 0 ? error : partly(error, told(count), count);
    }
    // Less than asked for is no end: somebody else may delete the same ones.
    if (batch === 0) break;
    count += batch;
    // A store may answer within one turn, and others want to be served, too.
    await new Promise<void>((resolve) => clock.turn(resolve));
  }
  return { count };
}

function partly(error: unknown, detail: Detail, count: number): unknown {
  if (!(error instanceof HttpError)) return error;
  const { status, message, headers } = error;
  return new HttpError(status, `${message}; ${count} were deleted before that, and are gone`, headers, { detail });
}
