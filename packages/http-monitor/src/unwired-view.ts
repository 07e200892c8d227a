import type { BridgeView } from "@bridge/core";

/** What there is to see before the process has a bridge. */
export const UNWIRED_VIEW: BridgeView = {
  instanceId: "",
  configVersion: 0,
  state: "unwired",
  running: false,
  health: "unavailable",
  role: "standalone",
  level: "live",
  empty: true,
  serviceLevel: "full",
  routes: [],
  sessions: [],
  stores: [],
  failures: [],
  restartRequired: [],
  undelivered: [],
};
