import { describe, expect, test, vi } from "vitest";
import { EXAMPLE, IMAGE, synthesized } from "./support/synthesized.ts";

const stack = synthesized();
const [container] = stack.only("AWS::ECS::TaskDefinition")["ContainerDefinitions"] as readonly [
  Record<string, unknown>,
];

describe("the task", () => {
  test("runs the image by its digest, as nobody, on a read-only file system, without capabilities", () => {
    expect(container).toMatchObject({
      Image: IMAGE,
      User: "1000:1000",
      ReadonlyRootFilesystem: true,
      LinuxParameters: { Capabilities: { Drop: ["ALL"] } },
    });
    expect(container).not.toHaveProperty("Privileged");
  });

  test("asks the bridge itself whether it is alive, with more time than the probe takes", () => {
    expect(container["HealthCheck"]).toEqual({
      Command: ["CMD", "node", "/opt/bridge/main.mjs", "-healthcheck"],
      Interval: 10,
      Retries: 3,
      StartPeriod: 30,
      Timeout: 5,
    });
  });

  test.each([
    ["60s", 75],
    ["1500ms", 17],
    ["105s", 120],
  ])("spec 8: for shutdown_timeout %s ECS waits %i s before it kills", (shutdown_timeout, seconds) => {
    const task = synthesized({ shutdown_timeout }).only("AWS::ECS::TaskDefinition");
    expect(task["ContainerDefinitions"]).toEqual([expect.objectContaining({ StopTimeout: seconds })]);
  });

  test("log, audit and metrics go to a log group, and a log service that hangs does not hold up messages", () => {
    expect(container["LogConfiguration"]).toMatchObject({
      LogDriver: "awslogs",
      Options: { "awslogs-stream-prefix": "bridge", mode: "non-blocking" },
    });
    expect(stack.resources("AWS::Logs::LogGroup")).toEqual([
      expect.objectContaining({
        DeletionPolicy: "RetainExceptOnCreate",
        Properties: expect.objectContaining({ LogGroupName: "/bridge/plant-7", RetentionInDays: 30 }) as unknown,
      }),
    ]);
  });

  test("no secret is given by value, only where it is", () => {
    expect(container).not.toHaveProperty("Secrets");
    const names = (container["Environment"] as readonly { readonly Name: string }[]).map(({ Name }) => Name);
    expect(names).toEqual(["AWS_REGION", "BRIDGE_BOOTSTRAP_JSON"]);
    expect(stack.resources("AWS::SecretsManager::Secret")).toEqual([]);
    const made = synthesized({ admin_api_key_param: undefined, monitor_api_key_param: undefined });
    const secrets = made.resources("AWS::SecretsManager::Secret");
    expect(secrets.map(({ Properties }) => Properties["Name"])).toEqual([
      "bridge/plant-7/admin-api-key",
      "bridge/plant-7/monitor-api-key",
    ]);
    for (const { Properties, DeletionPolicy } of secrets) {
      expect(Properties["GenerateSecretString"]).toEqual({ ExcludePunctuation: true, PasswordLength: 40 });
      expect(DeletionPolicy).toBe("RetainExceptOnCreate");
    }
  });
});

describe("the service", () => {
  test("keeps two instances, and starts new ones before it stops old ones", () => {
    expect(stack.only("AWS::ECS::Service")).toMatchObject({
      DesiredCount: 2,
      LaunchType: "FARGATE",
      DeploymentConfiguration: {
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
        MinimumHealthyPercent: 100,
        MaximumPercent: 200,
      },
    });
  });

  test("runs in private subnets, without public addresses", () => {
    const { network } = EXAMPLE;
    expect(stack.only("AWS::ECS::Service")["NetworkConfiguration"]).toMatchObject({
      AwsvpcConfiguration: { AssignPublicIp: "DISABLED", Subnets: network?.private_subnet_ids },
    });
    expect(stack.resources("AWS::EC2::VPC")).toEqual([]);
    const own = synthesized({ network: undefined });
    expect(own.resources("AWS::EC2::NatGateway")).toHaveLength(1);
    expect(own.only("AWS::EC2::VPCEndpoint")).toMatchObject({ VpcEndpointType: "Gateway" });
  });
});

describe("the security group", () => {
  const rules = (document: Parameters<typeof synthesized>[0]) => {
    const { SecurityGroupIngress = [], SecurityGroupEgress = [] } =
      synthesized(document).only("AWS::EC2::SecurityGroup");
    const port = ({ FromPort, CidrIp, SourceSecurityGroupId }: Record<string, unknown>) =>
      [FromPort, CidrIp ?? SourceSecurityGroupId] as const;
    return {
      ingress: (SecurityGroupIngress as readonly Record<string, unknown>[]).map(port),
      egress: (SecurityGroupEgress as readonly Record<string, unknown>[]).map(port),
    };
  };

  test("lets in nobody who is not named", () => {
    expect(rules({ monitor_peers: [], admin_peers: [] }).ingress).toEqual([]);
    expect(rules({ ingest: { port: 8082, peers: ["10.0.1.0/24"] } }).ingress).toEqual([
      [8081, "10.0.0.0/16"],
      [8080, "sg-0123456789abcdef0"],
      [8082, "10.0.1.0/24"],
    ]);
  });

  test("lets out only to the ports that are named", () => {
    expect(rules({ outbound_ports: [443, 5671] }).egress).toEqual([
      [443, "0.0.0.0/0"],
      [5671, "0.0.0.0/0"],
    ]);
  });
});

test("the template passes the rules of CloudFormation and of the CDK, and needs no assets", ({ onTestFinished }) => {
  vi.stubEnv("CDK_VALIDATION", "true");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { json } = synthesized({ network: undefined, admin_api_key_param: undefined });
  expect(JSON.stringify(json)).not.toContain("cdk-hnb659fds");
  // What `cdk deploy` and `aws cloudformation deploy` take without a bucket.
  expect(JSON.stringify(json).length).toBeLessThan(51_200);
});
