import { BridgeError, type Clock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { TransactionError } from "./transaction-error.ts";

const TIMEOUT_MS = 30_000;

/**
 * Bounds the reading of what is stored and of what it refers to.
 * @throws TransactionError unavailable when that takes longer than 30 s, or cannot be done for now
 */
export async function readWithin<Result>(
  clock: Clock,
  signal: AbortSignal,
  work: (bound: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = () => new TransactionError("unavailable", `not read in ${TIMEOUT_MS / 1_000} s`);
  using limit = deadline(clock, TIMEOUT_MS, late);
  const bound = AbortSignal.any([signal, limit.signal]);
  try {
    return await orAborted(work(bound), bound);
  } catch (error) {
    if (!BridgeError.is(error) || error.code !== "UNAVAILABLE") throw error;
    throw new TransactionError("unavailable", error.message, { cause: error });
  }
}
