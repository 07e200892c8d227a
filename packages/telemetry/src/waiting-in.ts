import type { Clock, OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { Waiting } from "./metrics/metric.ts";

/** A scrape does not wait longer for a store. */
const TIMEOUT_MS = 2_000;

/** What waits in the outbox; `undefined` when there is none or it does not answer, so that no number is made up. */
export async function waitingIn(store: OutboxStore | undefined, clock: Clock): Promise<readonly Waiting[] | undefined> {
  if (store === undefined) return undefined;
  using limit = deadline(clock, TIMEOUT_MS, new Error("the outbox store did not answer"));
  try {
    const backlog = await orAborted(store.backlog(limit.signal), limit.signal);
    const now = clock.now();
    return backlog.map(({ routeId, bindingId, oldestCreatedAt }) => ({
      routeId,
      bindingId,
      oldestAgeMs: Math.max(0, now - oldestCreatedAt),
    }));
  } catch {
    return undefined;
  }
}
