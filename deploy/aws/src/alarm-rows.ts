import type { IMetric } from "aws-cdk-lib/aws-cloudwatch";
import type { FargateService } from "aws-cdk-lib/aws-ecs";
import { Duration } from "aws-cdk-lib/core";
import type { Deployment } from "./deployment.ts";
import { BridgeMetrics, calculated, ofService } from "./metrics.ts";
import type { BridgeQueue } from "./queues.ts";
import type { Store } from "./stores.ts";

/** What there is to be watched. */
export interface Watched {
  readonly deployment: Deployment;
  readonly service: FargateService;
  readonly stores: readonly Store[];
  readonly queues: readonly BridgeQueue[];
}

export interface AlarmRow {
  readonly id: string;
  /** What is wrong, and where to read on. */
  readonly description: string;
  readonly metric: IMetric;
  readonly when: { readonly above: number } | { readonly below: number };
  /** For so many of the metric's periods in a row. */
  readonly periods: number;
  /** What is measured is always measured: silence is an alarm too. */
  readonly alwaysThere?: true;
}

/** Every alarm of a deployment. */
export function alarmRows(watched: Watched): readonly AlarmRow[] {
  const { deployment, queues, stores } = watched;
  return [
    tasksMissing(watched),
    ...bridgeRows(deployment),
    ...stores.map(throttled),
    ...queues.flatMap((queue) => [
      givenUp(queue),
      ...(queue.settings.use === "send" ? [] : [waiting(queue, deployment)]),
    ]),
  ];
}

function tasksMissing({ deployment, service }: Watched): AlarmRow {
  const dimensions = { ClusterName: service.cluster.clusterName, ServiceName: service.serviceName };
  return {
    id: "tasks-missing",
    description:
      "Fewer tasks run than should: they end, or are ended as not alive, again and again. Runbook: failover.md",
    metric: ofService("ECS/ContainerInsights", "RunningTaskCount", dimensions, "Average"),
    when: { below: deployment.desired_count },
    periods: 5,
    alwaysThere: true,
  };
}

/** From what the instances write of themselves. */
function bridgeRows({ bridge_id, dead_letters }: Deployment): readonly AlarmRow[] {
  const bridge = new BridgeMetrics(bridge_id);
  const range = (name: string) => ({ high: bridge.metric(name, "Maximum"), low: bridge.metric(name, "Minimum") });
  const legs = ["Route", "Binding", "Disposition"];
  return [
    {
      id: "none-active",
      description:
        "No instance is ready for all of its traffic: none is active, or a session is down. Runbook: failover.md",
      metric: bridge.metric("Ready", "Maximum", { Level: "full" }),
      when: { below: 1 },
      periods: 3,
      alwaysThere: true,
    },
    {
      id: "dead-letters",
      description: "Messages fail for good and are kept in the DLQ. Runbook: growing-dlq.md",
      metric: bridge.sumOver("Legs", legs, { Disposition: "dead_lettered" }, Duration.minutes(5)),
      when: { above: dead_letters },
      periods: 1,
    },
    ...(["dlq", "outbox"] as const).map((role): AlarmRow => ({
      id: `not-writable-${role}`,
      description: `An instance cannot write to its store ${role}; messages stay where they are. Runbook: throttled-table.md`,
      metric: bridge.metric("StoreWritable", "Minimum", { Store: role }),
      when: { below: 1 },
      periods: 5,
    })),
    {
      id: "keys-not-read",
      description:
        "The keys of the servers cannot be read again; the last ones stay in force. Runbook: rotating-keys.md",
      metric: bridge.metric("KeyRefreshFailures", "Sum"),
      when: { above: 0 },
      periods: 15,
    },
    {
      id: "configurations-differ",
      description: "Instances run different versions of the configuration; see config_watch in deep health of each",
      metric: calculated("high - low", range("ConfigVersion"), "versions between the newest and the oldest"),
      when: { above: 0 },
      periods: 10,
    },
    {
      id: "messages-unaccounted",
      description: "The bridge does not know what became of a message: a bug of the bridge, please report it",
      metric: calculated("MAX([ABS(high), ABS(low)])", range("UnaccountedMessages"), "messages"),
      when: { above: 0 },
      periods: 5,
    },
  ];
}

/** The table's own requests and those of its indexes, reads and writes together. */
function throttled({ role, table, description }: Store): AlarmRow {
  const places: readonly Readonly<Record<string, string>>[] = [
    { TableName: table.tableName },
    ...description.indexes.map(({ name }) => ({ TableName: table.tableName, GlobalSecondaryIndexName: name })),
  ];
  const metrics: Record<string, IMetric> = {};
  for (const [index, place] of places.entries()) {
    metrics[`read${index}`] = ofService("AWS/DynamoDB", "ReadThrottleEvents", place, "Sum");
    metrics[`write${index}`] = ofService("AWS/DynamoDB", "WriteThrottleEvents", place, "Sum");
  }
  // Where nothing is throttled there are no data points.
  const sum = Object.keys(metrics).map((name) => `FILL(${name}, 0)`);
  return {
    id: `throttled-${role}`,
    description: `Requests to the table ${description.name} are throttled. Runbook: throttled-table.md`,
    metric: calculated(sum.join(" + "), metrics, "throttled requests"),
    when: { above: 0 },
    periods: 5,
  };
}

function givenUp({ settings: { name }, givenUp: queue }: BridgeQueue): AlarmRow {
  return {
    id: `given-up-${name}`,
    description: `Messages of the queue ${name} were received over and over and never settled. Runbook: growing-dlq.md`,
    metric: queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: "Maximum" }),
    when: { above: 0 },
    periods: 1,
  };
}

function waiting({ settings: { name }, queue }: BridgeQueue, { oldest_message }: Deployment): AlarmRow {
  return {
    id: `waiting-${name}`,
    description: `Messages wait in the queue ${name} for longer than they should. Runbook: failover.md`,
    metric: queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1), statistic: "Maximum" }),
    when: { above: oldest_message / 1_000 },
    periods: 3,
  };
}
