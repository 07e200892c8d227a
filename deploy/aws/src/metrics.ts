import { type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Duration } from "aws-cdk-lib/core";

/** Where the metrics of all bridges of an account are; `BridgeId` tells them apart. */
export const NAMESPACE = "Bridge";

const MINUTE = Duration.minutes(1);

type Statistic = "Average" | "Maximum" | "Minimum" | "Sum";

/** A metric of AWS itself, minute by minute. */
export function ofService(
  namespace: string,
  metricName: string,
  dimensionsMap: Readonly<Record<string, string>>,
  statistic: Statistic,
): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, statistic, period: MINUTE });
}

/** The metrics that the bridge writes: over all instances, since they share their dimensions. */
export class BridgeMetrics {
  readonly #bridgeId: string;

  constructor(bridgeId: string) {
    this.#bridgeId = bridgeId;
  }

  metric(name: string, statistic: Statistic, dimensions: Readonly<Record<string, string>> = {}): Metric {
    return ofService(NAMESPACE, name, { BridgeId: this.#bridgeId, ...dimensions }, statistic);
  }

  /** The sum of a metric over all values of some dimensions, such as all routes. */
  sumOver(
    name: string,
    dimensions: readonly string[],
    only: Readonly<Record<string, string>>,
    period: Duration,
  ): IMetric {
    const schema = [`"${NAMESPACE}"`, "BridgeId", ...dimensions].join(", ");
    const conditions = Object.entries({ BridgeId: this.#bridgeId, ...only }).map(
      ([key, value]) => `${key} = '${value}'`,
    );
    const expression = `SELECT SUM(${name}) FROM SCHEMA(${schema}) WHERE ${conditions.join(" AND ")}`;
    return new MathExpression({ expression, usingMetrics: {}, period, label: name });
  }
}

/** A number made of others, minute by minute. */
export function calculated(expression: string, usingMetrics: Record<string, IMetric>, label: string): IMetric {
  return new MathExpression({ expression, usingMetrics, period: MINUTE, label });
}
