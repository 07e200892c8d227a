import type { Synthesized } from "./synthesized.ts";

/** A metric that an alarm looks at: its name, and its dimensions with the values that the alarm asks for. */
export interface AlarmMetric {
  readonly alarm: string;
  readonly name: string;
  readonly dimensions: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

interface MetricOf {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}
interface AlarmProperties extends Partial<MetricOf> {
  readonly AlarmName: string;
  readonly Metrics?: readonly { readonly Expression?: string; readonly MetricStat?: { readonly Metric: MetricOf } }[];
}

const QUERY = /^SELECT \w+\((\w+)\) FROM SCHEMA\("(\w+)", ([\w, ]+)\) WHERE (.*)$/;

/** The metrics of a namespace that alarms look at, also by way of expressions and queries. */
export function alarmMetrics(stack: Synthesized, namespace: string): readonly AlarmMetric[] {
  return stack.resources("AWS::CloudWatch::Alarm").flatMap(({ Properties }) => {
    const { AlarmName: alarm, Metrics = [], ...own } = Properties as unknown as AlarmProperties;
    const metrics = [own as MetricOf, ...Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])];
    const plain = metrics
      .filter(({ Namespace }) => Namespace === namespace)
      .map(({ MetricName, Dimensions = [] }) => {
        const values = Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, String(Value)]));
        return { alarm, name: MetricName, dimensions: Object.keys(values).toSorted(), values };
      });
    const queried = Metrics.flatMap(({ Expression = "" }) => {
      const [, name = "", from, keys = "", where = ""] = QUERY.exec(Expression) ?? [];
      if (from !== namespace) return [];
      const conditions = where.matchAll(/(\w+) = '([^']*)'/g);
      const values = Object.fromEntries(Array.from(conditions, ([, key = "", value = ""]) => [key, value]));
      return [{ alarm, name, dimensions: keys.split(", ").toSorted(), values }];
    });
    return [...plain, ...queried];
  });
}
