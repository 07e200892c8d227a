import { Alarm, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { alarmRows, type Watched } from "./alarm-rows.ts";

export function addAlarms(scope: Construct, watched: Watched): void {
  const group = new Construct(scope, "Alarms");
  const { bridge_id, alarm_topic_arn } = watched.deployment;
  const topic = alarm_topic_arn === undefined ? undefined : Topic.fromTopicArn(group, "Topic", alarm_topic_arn);
  for (const { id, description, metric, when, periods, alwaysThere } of alarmRows(watched)) {
    const above = "above" in when;
    const alarm = new Alarm(group, id, {
      alarmName: `bridge-${bridge_id}-${id}`,
      alarmDescription: description,
      metric,
      threshold: above ? when.above : when.below,
      comparisonOperator: above ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: alwaysThere ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    if (topic === undefined) continue;
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }
}
