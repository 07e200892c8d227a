import { READINESS_LEVELS } from "@bridge/core";
import { flag, type Metric, single } from "./metric.ts";

/** The bridge as a whole. */
export const BRIDGE_METRICS: readonly Metric[] = [
  {
    name: "bridge_info",
    type: "gauge",
    help: "Always 1; names the instance and its role.",
    read: ({ view: { instanceId, role } }) => [{ labels: { instance_id: instanceId, role }, value: 1 }],
  },
  {
    name: "bridge_running",
    type: "gauge",
    help: "1 while a runtime carries messages.",
    read: ({ view }) => flag(view.running),
  },
  {
    name: "bridge_healthy",
    type: "gauge",
    help: "1 while the runtime runs and no background component has failed.",
    read: ({ view }) => flag(view.health === "ok"),
  },
  {
    name: "bridge_failed_components",
    type: "gauge",
    help: "Background components that have failed.",
    read: ({ view }) => single(view.failures.length),
  },
  {
    name: "bridge_ready",
    type: "gauge",
    help: "1 for each readiness level that is reached.",
    read: ({ view }) => {
      const reached = READINESS_LEVELS.indexOf(view.level);
      return READINESS_LEVELS.map((level, index) => ({ labels: { level }, value: Number(index <= reached) }));
    },
  },
  {
    name: "bridge_dlq_redrives_total",
    type: "counter",
    help: "Dead letters delivered again and deleted.",
    read: ({ stats }) => single(stats.redrives),
  },
  {
    name: "bridge_dlq_redrive_failures_total",
    type: "counter",
    help: "Dead letters whose redrive failed.",
    read: ({ stats }) => single(stats.redriveFailures),
  },
  {
    name: "bridge_hook_events_lost_total",
    type: "counter",
    help: "Events that a hook of the program was not called for, because it was too slow.",
    read: ({ stats }) => stats.hooks.map(({ hook, lost }) => ({ labels: { hook }, value: lost })),
  },
  {
    name: "bridge_hook_failures_total",
    type: "counter",
    help: "Calls of a hook of the program that threw, rejected, or were given up.",
    read: ({ stats }) => stats.hooks.map(({ hook, failures }) => ({ labels: { hook }, value: failures })),
  },
];
