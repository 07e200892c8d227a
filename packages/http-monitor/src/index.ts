export { type Authenticate, type Caller } from "@bridge/http-kit";
export { type ConfigWatch } from "./config-watch.ts";
export { type KeyRefresh } from "./key-refresh.ts";
export { createMonitorApp, type MonitorAppOptions, type MonitorKeys, namedMonitorKeys } from "./monitor-app.ts";
