import { BootstraplessSynthesizer, CfnOutput, type IStackSynthesizer, Stack, Tags } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { addAlarms } from "./alarms.ts";
import { bootstrapOf } from "./bootstrap.ts";
import type { Deployment } from "./deployment.ts";
import type { Image } from "./image.ts";
import { keysOf } from "./keys.ts";
import { securityGroupOf, vpcOf } from "./network.ts";
import { queueStatements, secretStatements, tableStatements } from "./permissions.ts";
import { queuesOf } from "./queues.ts";
import { serviceOf } from "./service.ts";
import { storesOf } from "./stores.ts";
import { taskDefinitionOf } from "./task.ts";

/** A bridge of two instances or more, and all that it needs. The template stands alone: no assets, no bootstrap stack. */
export class BridgeStack extends Stack {
  constructor(scope: Construct, deployment: Deployment, image: Image) {
    const name = `bridge-${deployment.bridge_id}`;
    const description = `Bridge ${deployment.bridge_id}: carries messages`;
    // The CDK's classes miss its interfaces by optional properties that may be undefined, here and wherever one is asserted.
    super(scope, name, {
      description,
      synthesizer: new BootstraplessSynthesizer() as IStackSynthesizer,
      // Templates of more than 50 KiB have to go by way of a bucket.
      suppressTemplateIndentation: true,
    });
    Tags.of(this).add("bridge", deployment.bridge_id);

    const stores = storesOf(this, deployment);
    const queues = queuesOf(this, deployment);
    const keys = keysOf(this, deployment);
    const vpc = vpcOf(this, deployment);
    const securityGroup = securityGroupOf(this, vpc, deployment);
    const taskDefinition = taskDefinitionOf(this, {
      deployment,
      image,
      bootstrap: this.toJsonString(bootstrapOf(deployment, keys)),
      permissions: [
        ...tableStatements(stores),
        ...queueStatements([
          ...queues.map(({ queue, settings }) => ({ arn: queue.queueArn, use: settings.use })),
          ...deployment.other_queues,
        ]),
        ...secretStatements(this, [keys.admin, keys.monitor, ...deployment.readable_secrets], deployment.kms_key_arns),
      ],
    });
    const service = serviceOf(this, { deployment, vpc, securityGroup, taskDefinition });
    addAlarms(this, { deployment, service, stores, queues });

    const output = (id: string, value: string): void => void new CfnOutput(this, id, { value });
    output("ClusterName", service.cluster.clusterName);
    output("ServiceName", service.serviceName);
    output("SecurityGroupId", securityGroup.securityGroupId);
    output("LogGroupName", `/bridge/${deployment.bridge_id}`);
    output("AdminKeyPlace", keys.admin);
    output("MonitorKeyPlace", keys.monitor);
    for (const { role, table } of stores) output(`Table${role[0]?.toUpperCase()}${role.slice(1)}`, table.tableName);
    for (const { settings, queue } of queues)
      output(`Queue${settings.name.replaceAll(/[^A-Za-z0-9]/g, "")}`, queue.queueUrl);
  }
}
