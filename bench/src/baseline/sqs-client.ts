import { SQSClient } from "@aws-sdk/client-sqs";

/** What an emulator takes for credentials. */
export const CREDENTIALS = {
  region: "us-east-1",
  credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
} as const;

const quiet = (): void => {};

/** The client of a script; without a logger of its own the SDK warns on each call that the queue is elsewhere. */
export function handMadeClient(): SQSClient {
  const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
  return new SQSClient({ ...CREDENTIALS, logger });
}
