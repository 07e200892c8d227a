import { silentLogger, systemClock, type Tracer } from "@bridge/ports";
import { openOtlp } from "@bridge/telemetry-otlp";
import type { TracingJob } from "./engine-job.ts";

/** The tracer of a process whose configuration asks for traces, with the defaults of everything but the ratio. */
export function benchTracer({ ratio, collector }: TracingJob): Tracer | undefined {
  const { tracer } = openOtlp({
    bridgeId: "bench",
    instanceId: "bench",
    version: undefined,
    env: {},
    clock: systemClock,
    logger: silentLogger,
    readMetrics: () => Promise.resolve([]),
    section: {
      endpoint: collector,
      headers: {},
      timeoutMs: undefined,
      compression: undefined,
      caFile: undefined,
      serviceName: undefined,
      resourceAttributes: {},
      metrics: { enabled: false, intervalMs: undefined, temporality: undefined },
      traces: { enabled: true, sampleRatio: ratio, maxQueue: undefined },
    },
  });
  return tracer;
}
