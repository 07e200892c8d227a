import type { BridgeConfig } from "@bridge/config";
import { BridgeError, type OutboxBacklog, type OutboxStore, type Seams } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";

/** A store that takes longer to count is logged, and not asked again. */
const COUNT_TIMEOUT_MS = 30_000;

/** Whether a configuration delivers the outbox records of a route and binding. */
export function drainedBy({ routes }: BridgeConfig): (place: Pick<OutboxBacklog, "routeId" | "bindingId">) => boolean {
  const boxed = new Map(
    routes.filter(({ deliveryMode }) => deliveryMode === "shared_outbox").map(({ id, bindings }) => [id, bindings]),
  );
  return ({ routeId, bindingId }) => boxed.get(routeId)?.includes(bindingId) === true;
}

/**
 * Logs which outbox records nobody delivers, and resolves to them. They are kept until an operator decides. Nothing
 * depends on it, so nobody has to wait for it, and it never rejects.
 */
export async function warnOfUndrained(
  store: OutboxStore,
  config: BridgeConfig,
  { clock, logger }: Pick<Seams, "clock" | "logger">,
  signal: AbortSignal,
): Promise<readonly OutboxBacklog[]> {
  using limit = deadline(clock, COUNT_TIMEOUT_MS, () => new BridgeError("TIMEOUT", "the outbox store did not answer"));
  const bounded = AbortSignal.any([signal, limit.signal]);
  try {
    const isDrained = drainedBy(config);
    const undrained = (await orAborted(store.backlog(bounded), bounded)).filter((line) => !isDrained(line));
    for (const { routeId, bindingId, depth } of undrained) {
      logger.warn(
        "the outbox holds messages that nobody delivers: configure their route and binding again, or move them to the DLQ",
        { route_id: routeId, binding_id: bindingId, records: depth },
      );
    }
    return undrained;
  } catch (thrown) {
    if (signal.aborted) return [];
    const { code, message } = BridgeError.from(thrown);
    logger.warn("the outbox could not be asked whether it holds messages that nobody delivers", {
      code,
      error: message,
    });
    return [];
  }
}
