import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";

export interface ClientLimits {
  /** Requests at a time. */
  readonly connections: number;
  /** When a request that was not answered is given up. */
  readonly requestTimeoutMs: number;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** The library would write each call to the console that goes to the host of a queue's URL. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * A client for one receiver or sender; it connects with its first request. Region, endpoint and credentials are those of
 * the SDK's configuration; a queue's URL says where it is.
 */
export function sqsClient(configured: SQSClientConfig, { connections, requestTimeoutMs }: ClientLimits): SQSClient {
  const agent = { maxSockets: connections, keepAlive: true };
  return new SQSClient({
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    logger: SILENT,
    ...configured,
    // Attempts are counted, and repeated with backoff, in one place: the engine.
    maxAttempts: 1,
  });
}
