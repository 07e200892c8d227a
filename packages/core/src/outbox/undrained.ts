import type { BridgeConfig } from "@bridge/config";
import type { Logger, OutboxBacklog, OutboxStore } from "@bridge/ports";

/** Whether a configuration has somebody who delivers the outbox records of this route and binding. */
export function isDrained(
  { routes }: BridgeConfig,
  { routeId, bindingId }: Pick<OutboxBacklog, "routeId" | "bindingId">,
): boolean {
  const route = routes.find(({ id }) => id === routeId);
  return route?.deliveryMode === "shared_outbox" && route.bindings.includes(bindingId);
}

/** Says which records of the outbox nobody delivers. They are kept: what becomes of them is for an operator to say. */
export async function warnOfUndrained(
  store: OutboxStore | undefined,
  config: BridgeConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const line of (await store?.backlog(signal)) ?? []) {
    if (isDrained(config, line)) continue;
    logger.warn(
      "the outbox holds messages that nobody delivers: configure their route and binding again, or move them to the DLQ",
      { route_id: line.routeId, binding_id: line.bindingId, records: line.depth },
    );
  }
}
