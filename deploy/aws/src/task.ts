import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  AwsLogDriverMode,
  Capability,
  ContainerImage,
  CpuArchitecture,
  FargateTaskDefinition,
  LinuxParameters,
  LogDriver,
  OperatingSystemFamily,
} from "aws-cdk-lib/aws-ecs";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Annotations, Duration, RemovalPolicy, Size, Stack } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { type Deployment, STOP_MARGIN_SECONDS } from "./deployment.ts";
import type { Image } from "./image.ts";
import { PORTS } from "./network.ts";
import { pullStatements } from "./permissions.ts";

/** Where the image has the program; its Dockerfile says the same. */
const PROGRAM = ["node", "/opt/bridge/main.mjs"] as const;
/** The user of the image, by number, so that ECS can see that it is not root. */
const USER = "1000:1000";

export interface TaskOptions {
  readonly deployment: Deployment;
  readonly image: Image;
  /** The bootstrap document, as JSON. */
  readonly bootstrap: string;
  /** What the bridge itself may do. */
  readonly permissions: readonly PolicyStatement[];
}

export function taskDefinitionOf(scope: Construct, options: TaskOptions): FargateTaskDefinition {
  const { deployment, image, permissions } = options;
  const task = new FargateTaskDefinition(scope, "Task", {
    family: `bridge-${deployment.bridge_id}`,
    cpu: deployment.cpu,
    memoryLimitMiB: deployment.memory_mib,
    runtimePlatform: {
      operatingSystemFamily: OperatingSystemFamily.LINUX,
      cpuArchitecture: deployment.architecture === "arm64" ? CpuArchitecture.ARM64 : CpuArchitecture.X86_64,
    },
    taskRole: roleOf(scope, "TaskRole", "What the bridge may do", permissions),
    executionRole: roleOf(scope, "ExecutionRole", "What ECS needs to start the bridge", pullStatements(scope, image)),
  });
  addBridge(task, options);
  return task;
}

function addBridge(task: FargateTaskDefinition, { deployment, image, bootstrap }: TaskOptions): void {
  const linuxParameters = new LinuxParameters(task, "Linux");
  linuxParameters.dropCapabilities(Capability.ALL);
  const container = task.addContainer("bridge", {
    image: ContainerImage.fromRegistry(image.name),
    user: USER,
    readonlyRootFilesystem: true,
    linuxParameters,
    environment: { AWS_REGION: Stack.of(task).region, BRIDGE_BOOTSTRAP_JSON: bootstrap },
    portMappings: [
      { name: "admin", containerPort: PORTS.admin },
      { name: "monitor", containerPort: PORTS.monitor },
      ...(deployment.ingest === undefined ? [] : [{ name: "ingest", containerPort: deployment.ingest.port }]),
    ],
    // Liveness, not readiness: a new task does not bring a broker back.
    healthCheck: {
      command: ["CMD", ...PROGRAM, "-healthcheck"],
      interval: Duration.seconds(10),
      timeout: Duration.seconds(5),
      retries: 3,
      startPeriod: Duration.seconds(30),
    },
    stopTimeout: Duration.seconds(Math.ceil(deployment.shutdown_timeout / 1_000) + STOP_MARGIN_SECONDS),
    logging: LogDriver.awsLogs({
      logGroup: logGroupOf(task, deployment),
      streamPrefix: "bridge",
      // A log service that does not answer must not stop messages; past this much, lines are lost instead.
      mode: AwsLogDriverMode.NON_BLOCKING,
      maxBufferSize: Size.mebibytes(25),
    }),
  });
  const permitted = "the execution role may pull from the image's own repository";
  Annotations.of(container).acknowledgeWarning("@aws-cdk/aws-ecs:ecrImageRequiresPolicy", permitted);
}

/** Log, audit and metrics: all of them are lines of the process. */
function logGroupOf(scope: Construct, { bridge_id, log_retention_days }: Deployment): LogGroup {
  const logGroupName = `/bridge/${bridge_id}`;
  return new LogGroup(scope, "Log", {
    logGroupName,
    retention: log_retention_days,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
}

/** For tasks of this account only, with its statements in the role itself. */
function roleOf(scope: Construct, id: string, description: string, statements: readonly PolicyStatement[]): Role {
  const { account, partition, region } = Stack.of(scope);
  return new Role(scope, id, {
    description,
    assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": account },
        ArnLike: { "aws:SourceArn": `arn:${partition}:ecs:${region}:${account}:*` },
      },
    }),
    ...(statements.length > 0 && { inlinePolicies: { bridge: new PolicyDocument({ statements: [...statements] }) } }),
  });
}
