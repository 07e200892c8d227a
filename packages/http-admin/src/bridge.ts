import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { bridgeInfo } from "./schemas.ts";
import { bridgeInfoToWire } from "./wire.ts";

/** Looking at the bridge, starting and stopping it (spec 4.2; contract §2). */
export function bridgeEndpoints(bridge: BridgeAccess): readonly AdminEndpoint[] {
  const resourceId = (): string => bridge.instanceId;
  const guard = (): void => void bridge.supervisor;
  const refusals = { 503: "The process has no bridge yet." };
  return [
    endpoint({
      method: "GET",
      path: "/api/v1/admin/bridge",
      access: "admin",
      audit: "bridge.status",
      resourceId,
      guard,
      refusals,
      summary: "The instance, also while it is stopped.",
      answers: { 200: { description: "What it is.", schema: bridgeInfo } },
    }).handle(() => ({ status: 200, body: bridgeInfoToWire(bridge.supervisor.view()) })),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/bridge/start",
      access: "admin",
      needs: "bridge.control",
      audit: "bridge.start",
      begin: { action: "bridge.start.begin" },
      resourceId,
      guard,
      refusals: { ...refusals, 409: "The bridge cannot start; the error says why." },
      summary: "Starts a fresh runtime; does nothing when one runs.",
      answers: { 200: { description: "The bridge runs.", schema: v.object({ status: v.literal("started") }) } },
    }).handle(async () => {
      await bridge.bounded("the start goes on, and a later call joins it: it was not done", (signal) =>
        bridge.supervisor.start(signal),
      );
      return { status: 200, body: { status: "started" } };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/bridge/stop",
      access: "admin",
      needs: "bridge.control",
      audit: "bridge.stop",
      begin: { action: "bridge.stop.begin" },
      resourceId,
      guard,
      refusals,
      summary: "Stops the runtime; does nothing when none runs.",
      answers: { 200: { description: "The bridge is stopped.", schema: v.object({ status: v.literal("stopped") }) } },
    }).handle(async () => {
      await bridge.bounded(
        () => `the stop goes on, and a later call joins it: still in ${phasesOf(bridge)}`,
        (signal) => bridge.supervisor.stop(signal),
      );
      return { status: 200, body: { status: "stopped" } };
    }),
  ];
}

function phasesOf(bridge: BridgeAccess): string {
  const state = bridge.supervisor.state();
  return state.kind === "stopping" ? state.phases.join(", ") : "its last phase";
}
