import type { DlqStore, OutboxStore } from "@bridge/ports";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { damageAcknowledged } from "./schemas.ts";

const REFUSALS = { 404: "There is no such store.", 503: "The store is not open." } as const;

/** Telling a store that its damaged files are known of, so that the bridge counts as `full` again. */
export function damageEndpoints(bridge: BridgeAccess): readonly AdminEndpoint[] {
  return [acknowledge("dlq", () => bridge.dlq), acknowledge("outbox", () => bridge.outbox)];
}

function acknowledge(role: "dlq" | "outbox", store: () => DlqStore | OutboxStore): AdminEndpoint {
  return endpoint({
    method: "POST",
    path: `/api/v1/admin/${role}/acknowledge-damage`,
    access: "admin",
    needs: "damage.acknowledge",
    audit: `${role}.acknowledge_damage`,
    begin: { action: `${role}.acknowledge_damage.begin` },
    summary: "Says that the damaged files which the store has set aside are known of; nothing is deleted.",
    guard: () => void store(),
    refusals: REFUSALS,
    answers: { 200: { description: "Those that were not yet.", schema: damageAcknowledged } },
  }).handle(() => {
    const acknowledged = store().acknowledgeDamage?.() ?? [];
    return { status: 200, body: { acknowledged: [...acknowledged] }, audit: { detail: { files: acknowledged } } };
  });
}
