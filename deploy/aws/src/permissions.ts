import { isSecretArn } from "@bridge/secrets-aws";
import { Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Stack, Token } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import type { QueueSettings } from "./deployment.ts";
import type { Image } from "./image.ts";
import { type Store, STORES } from "./stores.ts";

/** What a receiver and a sender ask of a queue. Requests of several messages need the permission for one. */
export const QUEUE_ACTIONS = {
  receive: ["ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes"],
  send: ["SendMessage"],
} as const;

export const SECRET_ACTIONS = { parameter: "GetParameter", secret: "GetSecretValue" } as const;

function allow(sid: string, actions: readonly string[], resources: readonly string[]): PolicyStatement {
  return new PolicyStatement({ sid, effect: Effect.ALLOW, actions: [...actions], resources: [...resources] });
}

/** One statement for each table, and one for its indexes, which are only read. */
export function tableStatements(stores: readonly Store[]): readonly PolicyStatement[] {
  return stores.flatMap(({ role, table, description }) => {
    const { operations, queries } = STORES[role];
    const name = role.charAt(0).toUpperCase() + role.slice(1);
    const asked = queries === "table" ? [...operations, "Query"] : operations;
    const onTable = allow(
      `${name}Table`,
      asked.map((operation) => `dynamodb:${operation}`),
      [table.tableArn],
    );
    if (queries !== "indexes") return [onTable];
    const indexes = description.indexes.map((index) => `${table.tableArn}/index/${index.name}`);
    return [onTable, allow(`${name}Indexes`, ["dynamodb:Query"], indexes)];
  });
}

/** One statement for each use, over all the queues of that use. */
export function queueStatements(
  queues: readonly { readonly arn: string; readonly use: QueueSettings["use"] }[],
): readonly PolicyStatement[] {
  return (["receive", "send"] as const).flatMap((use) => {
    const arns = queues.filter((queue) => queue.use === use || queue.use === "both").map(({ arn }) => arn);
    const actions = QUEUE_ACTIONS[use].map((action) => `sqs:${action}`);
    return arns.length === 0 ? [] : [allow(use === "receive" ? "ReceiveMessages" : "SendMessages", actions, arns)];
  });
}

/** Reading of parameters (by name) and secrets (by ARN), and what their keys need for it. */
export function secretStatements(
  scope: Construct,
  places: readonly string[],
  kmsKeyArns: readonly string[],
): readonly PolicyStatement[] {
  const secrets = places.filter(isSecret);
  const parameters = places.filter((place) => !isSecret(place)).map((name) => parameterArn(scope, name));
  return [
    ...(secrets.length > 0 ? [allow("ReadSecrets", [`secretsmanager:${SECRET_ACTIONS.secret}`], secrets)] : []),
    ...(parameters.length > 0 ? [allow("ReadParameters", [`ssm:${SECRET_ACTIONS.parameter}`], parameters)] : []),
    ...(kmsKeyArns.length > 0 ? [decryption(scope, kmsKeyArns)] : []),
  ];
}

function isSecret(place: string): boolean {
  // What is not known yet is the ARN of a secret that the stack makes.
  return Token.isUnresolved(place) || isSecretArn(place);
}

/** A name may begin with a slash, and end with a version or a label, which are not part of what is permitted. */
function parameterArn(scope: Construct, name: string): string {
  if (name.startsWith("arn:")) return name;
  const resourceName = name.replace(/^\//, "").replace(/:.*$/, "");
  return Stack.of(scope).formatArn({ service: "ssm", resource: "parameter", resourceName });
}

/** Only by way of the services that keep the values. */
function decryption(scope: Construct, keyArns: readonly string[]): PolicyStatement {
  const { region, urlSuffix } = Stack.of(scope);
  const statement = allow("DecryptSecrets", ["kms:Decrypt"], keyArns);
  const services = ["ssm", "secretsmanager"].map((service) => `${service}.${region}.${urlSuffix}`);
  statement.addCondition("StringEquals", { "kms:ViaService": services });
  return statement;
}

/** What ECS itself needs to start a task: the image, where it lies in a registry of AWS. */
export function pullStatements(scope: Construct, { ecr }: Image): readonly PolicyStatement[] {
  if (ecr === undefined) return [];
  const { partition } = Stack.of(scope);
  const repository = `arn:${partition}:ecr:${ecr.region}:${ecr.account}:repository/${ecr.repository}`;
  const actions = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"];
  // A token is for a registry, so this one knows no resources.
  return [allow("PullImage", actions, [repository]), allow("EnterRegistry", ["ecr:GetAuthorizationToken"], ["*"])];
}
