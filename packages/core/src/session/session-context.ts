import type { BridgeConfig, SessionConfig } from "@bridge/config";
import type { Seams, SessionContext, SessionRole } from "@bridge/ports";

export interface SessionContextOptions extends Seams {
  readonly config: BridgeConfig;
  readonly instanceId: string;
  readonly session: SessionConfig;
  readonly role: SessionRole;
}

/** What one half of a session is told of the bridge that it is part of. */
export function sessionContext(options: SessionContextOptions): SessionContext {
  const { config, instanceId, session, role, clock, random, logger } = options;
  const { id, sessionMode } = session;
  const fed = new Set(config.receivers.filter((receiver) => receiver.sessionId === id).map((receiver) => receiver.id));
  const windows = config.routes.filter((route) => fed.has(route.receiverId)).map((route) => route.policy.maxInFlight);
  return {
    id,
    clock,
    random,
    logger: logger.child({ session_id: id, role }),
    bridgeId: config.bridge.id,
    ...(config.bridge.deploymentMode === "clustered" && sessionMode !== "exclusive" && { replica: instanceId }),
    role,
    sessionMode,
    maxInFlight: windows.reduce((sum, window) => sum + window, 0),
  };
}
