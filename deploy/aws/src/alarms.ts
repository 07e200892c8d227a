import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Duration } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";
import type { BridgeQueue } from "./queues.ts";
import type { Store } from "./stores.ts";

export interface Watched {
  readonly deployment: Deployment;
  readonly service: FargateService;
  readonly stores: readonly Store[];
  readonly queues: readonly BridgeQueue[];
}

interface AlarmRow {
  readonly id: string;
  /** What it means, and the runbook. */
  readonly description: string;
  readonly metric: IMetric;
  /** Alarms while the metric is above, or below, a number for so many minutes in a row. */
  readonly when: { readonly above: number } | { readonly below: number };
  readonly minutes: number;
  /** What is measured is always measured: silence is an alarm too. */
  readonly alwaysThere?: true;
}

const MINUTE = Duration.minutes(1);

export function addAlarms(scope: Construct, watched: Watched): void {
  const group = new Construct(scope, "Alarms");
  const { bridge_id, alarm_topic_arn } = watched.deployment;
  const topic = alarm_topic_arn === undefined ? undefined : Topic.fromTopicArn(group, "Topic", alarm_topic_arn);
  for (const { id, description, metric, when, minutes, alwaysThere } of rowsOf(watched)) {
    const above = "above" in when;
    const alarm = new Alarm(group, id, {
      alarmName: `bridge-${bridge_id}-${id}`,
      alarmDescription: description,
      metric,
      threshold: above ? when.above : when.below,
      comparisonOperator: above ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: minutes,
      treatMissingData: alwaysThere ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    if (topic === undefined) continue;
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }
}

function rowsOf(watched: Watched): readonly AlarmRow[] {
  return [
    ...taskRows(watched),
    ...watched.stores.map(throttledRow),
    ...watched.queues.flatMap((queue) => queueRows(queue, watched.deployment)),
  ];
}

function taskRows({ deployment, service }: Watched): readonly AlarmRow[] {
  const dimensionsMap = { ClusterName: service.cluster.clusterName, ServiceName: service.serviceName };
  return [
    {
      id: "tasks-missing",
      description:
        "Fewer tasks run than should: they end, or are ended as unhealthy, again and again. Runbook: failover.md",
      metric: new Metric({
        namespace: "ECS/ContainerInsights",
        metricName: "RunningTaskCount",
        dimensionsMap,
        statistic: "Average",
        period: MINUTE,
      }),
      when: { below: deployment.desired_count },
      minutes: 5,
      alwaysThere: true,
    },
  ];
}

/** The table's own requests and those of its indexes, reads and writes together. */
function throttledRow({ role, table, description }: Store): AlarmRow {
  const places = [{ TableName: table.tableName }].concat(
    description.indexes.map((index) => ({ TableName: table.tableName, GlobalSecondaryIndexName: index.name })),
  );
  const usingMetrics: Record<string, IMetric> = {};
  for (const [index, dimensionsMap] of places.entries()) {
    for (const kind of ["Read", "Write"]) {
      usingMetrics[`${kind.toLowerCase()}${index}`] = new Metric({
        namespace: "AWS/DynamoDB",
        metricName: `${kind}ThrottleEvents`,
        dimensionsMap,
        statistic: "Sum",
        period: MINUTE,
      });
    }
  }
  // Where nothing is throttled there are no data points.
  const expression = Object.keys(usingMetrics)
    .map((name) => `FILL(${name}, 0)`)
    .join(" + ");
  return {
    id: `throttled-${role}`,
    description: `Requests to the table ${description.name} are throttled. Runbook: throttled-table.md`,
    metric: new MathExpression({ expression, usingMetrics, period: MINUTE, label: "throttled requests" }),
    when: { above: 0 },
    minutes: 5,
  };
}

function queueRows({ settings, queue, givenUp }: BridgeQueue, { oldest_message }: Deployment): readonly AlarmRow[] {
  const rows: AlarmRow[] = [
    {
      id: `given-up-${settings.name}`,
      description: `Messages of the queue ${settings.name} were received over and over and never settled. Runbook: growing-dlq.md`,
      metric: givenUp.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: "Maximum" }),
      when: { above: 0 },
      minutes: 1,
    },
  ];
  if (settings.use === "send") return rows;
  return [
    ...rows,
    {
      id: `waiting-${settings.name}`,
      description: `Messages wait in the queue ${settings.name} for longer than they should. Runbook: failover.md`,
      metric: queue.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: "Maximum" }),
      when: { above: oldest_message / 1_000 },
      minutes: 3,
    },
  ];
}
