import { describe, expect, test } from "vitest";
import { readable } from "./support/readable.ts";
import { DIGEST, synthesized, type Synthesized } from "./support/synthesized.ts";

/** What a role is permitted, whole, by the words of its description. */
function statementsOf(stack: Synthesized, description: string): readonly unknown[] {
  const roles = Object.entries(stack.json.Resources).filter(([, { Type }]) => Type === "AWS::IAM::Role");
  const [id, role] = roles.find(([, { Properties }]) => Properties["Description"] === description) ?? [];
  const inline = (role?.Properties["Policies"] ?? []) as readonly Policy[];
  const attached = stack
    .resources("AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties["Roles"]) === JSON.stringify([{ Ref: id }]));
  const all = [...inline, ...attached.map(({ Properties }) => Properties as unknown as Policy)];
  return readable(all.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)) as readonly unknown[];
}
interface Policy {
  readonly PolicyDocument: { readonly Statement: readonly unknown[] };
}

const allow = (Sid: string, Action: unknown, Resource: unknown) => ({ Effect: "Allow", Sid, Action, Resource });

describe("the bridge may", () => {
  const stack = synthesized({
    kms_key_arns: ["arn:aws:kms:eu-west-1:111122223333:key/0123"],
    readable_secrets: [
      "/plant-7/broker-password:4",
      "arn:aws:secretsmanager:eu-west-1:111122223333:secret:target-AbCdEf",
    ],
    other_queues: [{ arn: "arn:aws:sqs:eu-west-1:444455556666:theirs", use: "both" }],
    monitor_api_key_param: undefined,
  });

  test("do with tables, queues and secrets what it does, and nothing else", () => {
    expect(statementsOf(stack, "What the bridge may do")).toEqual([
      allow(
        "ConfigTable",
        ["dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:Query"],
        "<Tableconfig.Arn>",
      ),
      allow(
        "DlqTable",
        ["dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
        "<Tabledlq.Arn>",
      ),
      allow("DlqIndexes", "dynamodb:Query", ["<Tabledlq.Arn>/index/by_category", "<Tabledlq.Arn>/index/by_route"]),
      allow("LeaseTable", ["dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:PutItem"], "<Tablelease.Arn>"),
      allow(
        "OutboxTable",
        ["DescribeTable", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"].map(
          (op) => `dynamodb:${op}`,
        ),
        "<Tableoutbox.Arn>",
      ),
      allow(
        "OutboxIndexes",
        "dynamodb:Query",
        ["by_place", "by_id", "by_entry"].map((index) => `<Tableoutbox.Arn>/index/${index}`),
      ),
      allow(
        "ReceiveMessages",
        ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"],
        ["<Queuecommands.Arn>", "arn:aws:sqs:eu-west-1:444455556666:theirs"],
      ),
      allow("SendMessages", "sqs:SendMessage", ["<Queueorders.Arn>", "arn:aws:sqs:eu-west-1:444455556666:theirs"]),
      allow("ReadSecrets", "secretsmanager:GetSecretValue", [
        "<MonitorKey>",
        "arn:aws:secretsmanager:eu-west-1:111122223333:secret:target-AbCdEf",
      ]),
      allow("ReadParameters", "ssm:GetParameter", [
        "arn:<Partition>:ssm:<Region>:<AccountId>:parameter/plant-7/admin-api-key",
        "arn:<Partition>:ssm:<Region>:<AccountId>:parameter/plant-7/broker-password",
      ]),
      {
        ...allow("DecryptSecrets", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/0123"),
        Condition: {
          StringEquals: { "kms:ViaService": ["ssm.<Region>.<URLSuffix>", "secretsmanager.<Region>.<URLSuffix>"] },
        },
      },
    ]);
  });
});

describe("ECS may", () => {
  const LOG = {
    Effect: "Allow",
    Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
    Resource: "<TaskLog.Arn>",
  };

  test("pull the image from its repository, and write the log", () => {
    expect(statementsOf(synthesized(), "What ECS needs to start the bridge")).toEqual([
      allow(
        "PullImage",
        ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
        "arn:<Partition>:ecr:eu-west-1:111122223333:repository/team/bridge",
      ),
      allow("EnterRegistry", "ecr:GetAuthorizationToken", "*"),
      LOG,
    ]);
  });

  test("only write the log, where the image is in a registry of somebody else", () => {
    const stack = synthesized({}, `registry.example/bridge@${DIGEST}`);
    expect(statementsOf(stack, "What ECS needs to start the bridge")).toEqual([LOG]);
  });
});

test("both roles are for tasks of this account only", () => {
  const roles = synthesized().resources("AWS::IAM::Role");
  expect(roles).toHaveLength(2);
  for (const { Properties } of roles) {
    expect(readable(Properties["AssumeRolePolicyDocument"])).toMatchObject({
      Statement: [
        {
          Principal: { Service: "ecs-tasks.amazonaws.com" },
          Condition: {
            StringEquals: { "aws:SourceAccount": "<AccountId>" },
            ArnLike: { "aws:SourceArn": "arn:<Partition>:ecs:<Region>:<AccountId>:*" },
          },
        },
      ],
    });
  }
});
