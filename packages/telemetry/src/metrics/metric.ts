import type { BridgeStats, BridgeView, LegStats } from "@bridge/core";
import type { Family, HistogramSample, NumberType, Sample } from "../family.ts";
import type { ConfigChanges } from "./config-metrics.ts";

/** What metrics are read from: the engine's numbers and facts at one moment, and what is known around it. */
export interface Reading extends Surroundings {
  readonly stats: BridgeStats;
  readonly view: BridgeView;
}

/** What is known around the engine, in the process that it runs in. */
export interface Surroundings {
  /** Audit events that did not reach a sink, by its name. */
  readonly auditFailures?: ReadonlyMap<string, number>;
  /** How often the keys of the servers could not be read again, where they are. */
  readonly keyRefreshFailures?: number | undefined;
  /** What became of changes of the configuration, where somebody follows them. */
  readonly config?: ConfigChanges | undefined;
  /** What the outbox holds, where that is known. */
  readonly waiting?: readonly Waiting[] | undefined;
}

/** The records of one route and binding that wait in the outbox. */
export interface Waiting {
  readonly routeId: string;
  readonly bindingId: string;
  readonly oldestAgeMs: number;
}

/**
 * A row of the table: what a metric is called and means, and how it is read. Labels are bounded by the configuration: ids
 * of routes, bindings, sessions and parts, never of messages. A leg is one delivery to one binding; `binding` is empty
 * for what ended before one was chosen.
 */
export type Metric = NumberMetric | HistogramMetric;

interface Described {
  readonly name: `bridge_${string}`;
  readonly help: string;
}

interface NumberMetric extends Described {
  readonly type: NumberType;
  readonly read: (reading: Reading) => Iterable<Sample>;
}

interface HistogramMetric extends Described {
  readonly type: "histogram";
  readonly read: (reading: Reading) => Iterable<HistogramSample>;
}

/** A metric with what it is read from; nothing of it is read before somebody goes through its samples. */
export function familyOf(metric: Metric, reading: Reading): Family {
  const { name, help } = metric;
  return metric.type === "histogram"
    ? { name, help, type: metric.type, samples: { [Symbol.iterator]: () => metric.read(reading)[Symbol.iterator]() } }
    : { name, help, type: metric.type, samples: { [Symbol.iterator]: () => metric.read(reading)[Symbol.iterator]() } };
}

/** The one sample of a metric without labels. */
export function single(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

export function flag(value: boolean): readonly Sample[] {
  return single(Number(value));
}

export function legLabels({ routeId, bindingId }: Pick<LegStats, "routeId" | "bindingId">) {
  return { route: routeId, binding: bindingId };
}
