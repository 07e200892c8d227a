export { type ConfigWatch } from "./config-watch.ts";
export { createMonitorApp, type MonitorAppOptions, type MonitorKeys } from "./monitor-app.ts";
