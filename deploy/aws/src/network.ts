import {
  GatewayVpcEndpointAwsService,
  type IPeer,
  type ISecurityGroup,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Annotations } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";

/** The ports that the servers listen on, inside the task. */
export const PORTS = { admin: 8080, monitor: 8081 } as const;

export function vpcOf(scope: Construct, { network }: Deployment): IVpc {
  if (network === undefined) {
    return new Vpc(scope, "Vpc", {
      maxAzs: 2,
      natGateways: 1,
      // Requests to the tables stay inside, and cost nothing at the NAT gateway.
      gatewayEndpoints: { Tables: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
      // It would bring a Lambda function along.
      restrictDefaultSecurityGroup: false,
    }) as IVpc;
  }
  const vpc = Vpc.fromVpcAttributes(scope, "Vpc", {
    vpcId: network.vpc_id,
    availabilityZones: [...network.availability_zones],
    privateSubnetIds: [...network.private_subnet_ids],
  });
  Annotations.of(vpc).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing is routed here");
  return vpc;
}

/** Nobody may connect but the peers that are named, and tasks only to the ports that are. */
export function securityGroupOf(scope: Construct, vpc: IVpc, deployment: Deployment): ISecurityGroup {
  const { bridge_id: id, monitor_peers, admin_peers, ingest, outbound_ports } = deployment;
  const description = `Tasks of the bridge ${id}`;
  const group = new SecurityGroup(scope, "Tasks", { vpc, description, allowAllOutbound: false });
  const incoming = [
    { name: "monitor server", port: PORTS.monitor, peers: monitor_peers },
    { name: "admin server", port: PORTS.admin, peers: admin_peers },
    ...(ingest === undefined ? [] : [{ name: "HTTP receivers", ...ingest }]),
  ];
  for (const { name, port, peers } of incoming) {
    for (const peer of peers) group.addIngressRule(peerOf(peer), Port.tcp(port), name);
  }
  for (const port of outbound_ports) group.addEgressRule(Peer.anyIpv4(), Port.tcp(port), "AWS, brokers and targets");
  return group;
}

function peerOf(written: string): IPeer {
  return written.startsWith("sg-") ? Peer.securityGroupId(written) : Peer.ipv4(written);
}
