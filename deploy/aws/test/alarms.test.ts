import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { STORES } from "../src/stores.ts";
import { readable } from "./support/readable.ts";
import { EXAMPLE, synthesized } from "./support/synthesized.ts";

const stack = synthesized();
const alarms = new Map(
  stack
    .resources("AWS::CloudWatch::Alarm")
    .map(({ Properties }) => [String(Properties["AlarmName"]).replace("bridge-plant-7-", ""), readable(Properties)]),
);
const RUNBOOKS = new URL("../../../docs/runbooks", import.meta.url);

describe("alarms", () => {
  test("there is one for each way in which things go wrong", () => {
    expect([...alarms.keys()].toSorted()).toEqual(
      [
        "configurations-differ",
        "dead-letters",
        "given-up-commands",
        "given-up-orders",
        "keys-not-read",
        "messages-unaccounted",
        "none-active",
        "not-writable-dlq",
        "not-writable-outbox",
        "tasks-missing",
        ...Object.keys(STORES).map((role) => `throttled-${role}`),
        "waiting-commands",
      ].toSorted(),
    );
  });

  test("no instance is active: also when none says anything", () => {
    expect(alarms.get("none-active")).toMatchObject({
      Namespace: "Bridge",
      MetricName: "Ready",
      Dimensions: [
        { Name: "BridgeId", Value: "plant-7" },
        { Name: "Level", Value: "full" },
      ],
      Statistic: "Maximum",
      ComparisonOperator: "LessThanThreshold",
      Threshold: 1,
      TreatMissingData: "breaching",
    });
  });

  test("the DLQ grows: over all routes and bindings, in five minutes", () => {
    expect(alarms.get("dead-letters")).toMatchObject({
      Threshold: 0,
      ComparisonOperator: "GreaterThanThreshold",
      Metrics: [
        {
          Expression:
            `SELECT SUM(Legs) FROM SCHEMA("Bridge", BridgeId, Route, Binding, Disposition) ` +
            `WHERE BridgeId = 'plant-7' AND Disposition = 'dead_lettered'`,
          Period: 300,
        },
      ],
    });
    const tolerant = synthesized({ dead_letters: 100 }).resources("AWS::CloudWatch::Alarm");
    const alarm = tolerant.find(({ Properties }) => Properties["AlarmName"] === "bridge-plant-7-dead-letters");
    expect(alarm?.Properties["Threshold"]).toBe(100);
  });

  test("fewer tasks run than should", () => {
    expect(alarms.get("tasks-missing")).toMatchObject({
      Namespace: "ECS/ContainerInsights",
      MetricName: "RunningTaskCount",
      Threshold: 2,
      TreatMissingData: "breaching",
    });
    expect(stack.only("AWS::ECS::Cluster")["ClusterSettings"]).toEqual([
      { Name: "containerInsights", Value: "enabled" },
    ]);
  });

  test.each(Object.entries(STORES))(
    "requests to the table %s, or to one of its indexes, are throttled",
    (role, { describe: of }) => {
      const { Metrics } = alarms.get(`throttled-${role}`) as { readonly Metrics: readonly Record<string, unknown>[] };
      const indexes = of("any").indexes.map(({ name }) => [{ Name: "GlobalSecondaryIndexName", Value: name }]);
      const table = { Name: "TableName", Value: `<Table${role}>` };
      const places = [[], ...indexes].flatMap((index) => ["Read", "Write"].map((kind) => [kind, [...index, table]]));
      const asked = Metrics.slice(1).map(({ MetricStat }) => {
        const { Metric } = MetricStat as {
          readonly Metric: { readonly MetricName: string; readonly Dimensions: unknown };
        };
        return [Metric.MetricName.replace("ThrottleEvents", ""), Metric.Dimensions];
      });
      expect(asked).toEqual(places);
    },
  );

  test("messages wait in a queue, or were given up by one", () => {
    expect(alarms.get("waiting-commands")).toMatchObject({
      MetricName: "ApproximateAgeOfOldestMessage",
      Threshold: 900,
    });
    expect(alarms.get("given-up-orders")).toMatchObject({
      MetricName: "ApproximateNumberOfMessagesVisible",
      Threshold: 0,
    });
  });

  test("beginning and end are told to the topic, where there is one", () => {
    const told = { AlarmActions: [EXAMPLE.alarm_topic_arn], OKActions: [EXAMPLE.alarm_topic_arn] };
    for (const alarm of alarms.values()) expect(alarm).toMatchObject(told);
    const [silent] = synthesized({ alarm_topic_arn: undefined }).resources("AWS::CloudWatch::Alarm");
    expect(silent?.Properties).not.toHaveProperty("AlarmActions");
  });

  test("each names a runbook that there is, or says itself what to do", () => {
    const runbooks = readdirSync(RUNBOOKS);
    for (const alarm of alarms.values()) {
      const { AlarmDescription } = alarm as { readonly AlarmDescription: string };
      const [, runbook] = /Runbook: (\S+)$/.exec(AlarmDescription) ?? [];
      if (runbook === undefined) expect(AlarmDescription).toMatch(/deep health|report it/);
      else expect(runbooks).toContain(runbook);
    }
  });
});
