import { formatProblem } from "@bridge/config";
import { checkStrictly } from "@bridge/config/documents";
import { describe, duration, integer, text } from "@bridge/ports/options";
import * as v from "valibot";
import { peer } from "./peer.ts";

/** ECS kills a task at the latest this long after it has asked it to stop. */
const LONGEST_STOP_SECONDS = 120;
/** From the end of the budget to the kill: the log and the metrics of the last moment leave in it. */
export const STOP_MARGIN_SECONDS = 15;
const LONGEST_BUDGET_SECONDS = LONGEST_STOP_SECONDS - STOP_MARGIN_SECONDS;

const HOUR_MS = 3_600_000;

const BRIDGE_ID = v.regex(
  /^[a-z][a-z0-9-]{0,39}$/,
  "tables and queues are named after it: up to 40 lower-case letters, digits and '-', a letter first",
);

const port = () => integer(1, 65_535);
const texts = () => v.pipe(v.array(text()), v.readonly());
const atLeastTwo = () => v.pipe(texts(), v.minLength(2, "name at least two"));
const upTo = (longestMs: number, why: string) => duration({ max: longestMs, problem: `too long: ${why}` });
const use = () =>
  describe(
    v.picklist(["receive", "send", "both"], "expected receive, send or both"),
    "What the bridge does with it; it is permitted nothing else.",
  );
const peers = () => v.optional(v.pipe(v.array(peer()), v.readonly()), []);

const queueSchema = v.strictObject({
  name: describe(
    v.pipe(text(), v.regex(/^[\w-]{1,60}$/, "up to 60 letters, digits, '_' and '-'; `.fifo` is added by `fifo: true`")),
    "The queue is called `bridge-<bridge_id>-<name>`.",
  ),
  use: use(),
  fifo: describe(v.optional(v.boolean("expected true or false"), false), "Whether it keeps the order of each group."),
  max_replay_attempts: describe(
    v.optional(integer(1, 900), 5),
    "The replay cap of the route that receives from it: the queue itself gives a message up only after more receives.",
  ),
  visibility_timeout: describe(
    v.optional(upTo(12 * HOUR_MS, "SQS allows 12h"), "60s"),
    "How long a received message is hidden; receivers have an option of their own.",
  ),
  retention: describe(
    v.optional(upTo(336 * HOUR_MS, "SQS keeps messages for 14 days"), "336h"),
    "How long an undelivered message stays.",
  ),
});

const otherQueueSchema = v.strictObject({
  arn: describe(
    v.pipe(text(), v.regex(/^arn:[\w-]+:sqs:[\w-]+:\d{12}:[\w.-]+$/, "expected the ARN of a queue")),
    "Its policy has to let the task role in where it belongs to another account.",
  ),
  use: use(),
});

export const deploymentSchema = v.strictObject({
  bridge_id: describe(v.pipe(text(), BRIDGE_ID), "`bridge.id` of the configuration."),
  network: describe(
    v.optional(
      v.strictObject({
        vpc_id: describe(text(), "A VPC that is there already."),
        availability_zones: describe(atLeastTwo(), "Those of the subnets, in the same order."),
        private_subnet_ids: describe(atLeastTwo(), "Subnets with a way out to AWS and to the brokers."),
      }),
    ),
    "Where the tasks run. Default: a VPC of their own, over two zones, with one NAT gateway.",
  ),
  desired_count: describe(
    v.optional(v.pipe(integer(2, 100)), 2),
    "Instances. At least two: one carries an exclusive session, another takes over.",
  ),
  architecture: describe(
    v.optional(v.picklist(["x86_64", "arm64"], "expected x86_64 or arm64"), "x86_64"),
    "What the image was built for.",
  ),
  cpu: describe(v.optional(v.picklist([256, 512, 1024, 2048, 4096]), 512), "In thousandths of a core."),
  memory_mib: describe(v.optional(integer(512, 30_720), 1024), "Memory; Fargate has sizes that go with `cpu`."),
  shutdown_timeout: describe(
    v.optional(
      upTo(
        LONGEST_BUDGET_SECONDS * 1_000,
        `at most ${LONGEST_BUDGET_SECONDS}s, as ECS kills after ${LONGEST_STOP_SECONDS}s`,
      ),
      "60s",
    ),
    "The largest `bridge.shutdown_timeout` that the configuration will have; the task is given more.",
  ),
  monitor_peers: describe(
    peers(),
    "Private networks and security groups that may ask the monitor server. Default: none.",
  ),
  admin_peers: describe(peers(), "The same for the admin server."),
  ingest: describe(
    v.optional(
      v.strictObject({
        port: describe(port(), "Of `addr` of the receivers."),
        peers: describe(peers(), "Default: none."),
      }),
    ),
    "The listener of HTTP receivers, and who may send to it.",
  ),
  outbound_ports: describe(
    v.optional(v.pipe(v.array(port()), v.minLength(1, "AWS itself is on 443"), v.readonly()), [443, 8883]),
    "TCP ports that tasks may connect to: 443 for AWS, and those of brokers and targets.",
  ),
  admin_api_key_param: describe(
    v.optional(text()),
    "Name of an SSM parameter, or ARN of a secret, that has the key. Default: a secret is made, with a random key.",
  ),
  monitor_api_key_param: describe(v.optional(text()), "The same for the monitor server."),
  readable_secrets: describe(
    v.optional(texts(), []),
    "Further parameters (names) and secrets (ARNs) that the configuration refers to.",
  ),
  kms_key_arns: describe(v.optional(texts(), []), "Customer keys that those are encrypted with."),
  queues: describe(v.optional(v.pipe(v.array(queueSchema), v.readonly()), []), "Queues to be made."),
  other_queues: describe(
    v.optional(v.pipe(v.array(otherQueueSchema), v.readonly()), []),
    "Queues that are there already.",
  ),
  oldest_message: describe(v.optional(duration(), "15m"), "A message that waits longer in a queue raises an alarm."),
  dead_letters: describe(v.optional(integer(0), 0), "More dead letters than this in five minutes raise an alarm."),
  alarm_topic_arn: describe(v.optional(text()), "Told of alarms and of their end. Default: alarms are only shown."),
  log_retention_days: describe(
    v.optional(v.picklist([1, 3, 7, 14, 30, 60, 90, 180, 365]), 30),
    "How long log, audit and metrics' lines are kept.",
  ),
});

/** What a stack is made from: durations are milliseconds, defaults are filled in. */
export type Deployment = v.InferOutput<typeof deploymentSchema>;
/** As it is written in a file. */
export type DeploymentDocument = v.InferInput<typeof deploymentSchema>;
export type QueueSettings = Deployment["queues"][number];

/** @throws Error naming every field that is wrong, and the remedy */
export function parseDeployment(document: unknown): Deployment {
  const checked = checkStrictly(deploymentSchema, document);
  if (checked.ok) return checked.output;
  const problems = checked.problems.map((problem) => `  ${formatProblem(problem)}`);
  throw new Error(`the deployment cannot be used:\n${problems.join("\n")}`);
}
