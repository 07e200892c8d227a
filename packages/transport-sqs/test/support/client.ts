import type { SQSClientConfig } from "@aws-sdk/client-sqs";

/** What the SDK would take from its environment. */
export const CLIENT = {
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
} as const satisfies SQSClientConfig;

/** The SDK says on the console when a queue's URL is of another host than it would take. */
export const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
