import type { ISecurityGroup, IVpc } from "aws-cdk-lib/aws-ec2";
import {
  AvailabilityZoneRebalancing,
  Cluster,
  ContainerInsights,
  FargateService,
  type FargateTaskDefinition,
  type ICluster,
  PropagatedTagSource,
} from "aws-cdk-lib/aws-ecs";
import type { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";

export interface ServiceOptions {
  readonly deployment: Deployment;
  readonly vpc: IVpc;
  readonly securityGroup: ISecurityGroup;
  readonly taskDefinition: FargateTaskDefinition;
}

/** Replaces tasks that end, which is how the bridge recovers from several failures (spec 1.9). */
export function serviceOf(scope: Construct, { deployment, vpc, securityGroup, taskDefinition }: ServiceOptions) {
  const name = `bridge-${deployment.bridge_id}`;
  // Its metrics tell how many tasks run.
  const cluster = new Cluster(scope, "Cluster", {
    clusterName: name,
    vpc,
    containerInsightsV2: ContainerInsights.ENABLED,
  }) as ICluster;
  const service = new FargateService(scope, "Service", {
    cluster,
    serviceName: name,
    taskDefinition,
    desiredCount: deployment.desired_count,
    securityGroups: [securityGroup],
    assignPublicIp: false,
    availabilityZoneRebalancing: AvailabilityZoneRebalancing.ENABLED,
    // New tasks stand by before old ones are asked to stop, so that there is somebody to take over.
    minHealthyPercent: 100,
    maxHealthyPercent: 200,
    circuitBreaker: { enable: true, rollback: true },
    propagateTags: PropagatedTagSource.SERVICE,
  });
  // With all of its permissions, or the first tasks fail.
  if (taskDefinition.executionRole !== undefined) service.node.addDependency(taskDefinition.executionRole);
  return service;
}
