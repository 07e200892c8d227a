export { type ConfigWatch } from "./config-watch.ts";
export { createMonitorApp, type MonitorAppOptions, type MonitorKeys, namedMonitorKeys } from "./monitor-app.ts";
