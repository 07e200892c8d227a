import { SQSClient, type SQSClientConfig, type SQSClientResolvedConfig } from "@aws-sdk/client-sqs";
import { UndiciHttpHandler } from "@smithy/undici-http-handler";
import { boundCredentials } from "@bridge/ports/internal";
import { Agent } from "undici";
import { maySkew } from "./sqs-error.ts";

export interface ClientLimits {
  /** Requests at a time. */
  readonly connections: number;
  /** When a request that was not answered is given up. */
  readonly requestTimeoutMs: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** The clocks may be minutes apart before a signature is refused for it. */
const SKEW_MS = 60_000;

/** The library would write each call to the console that goes to the host of a queue's URL. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * A client for one receiver or sender; it connects with its first request. Region, endpoint and credentials are those of
 * the SDK's configuration; a queue's URL says where it is.
 */
export function sqsClient(configured: SQSClientConfig, { connections, requestTimeoutMs }: ClientLimits): SQSClient {
  const client = new SQSClient({
    // A request costs half of what it does over the platform's own HTTP client.
    requestHandler: new UndiciHttpHandler({
      dispatcher: new Agent({
        connections,
        connect: { timeout: CONNECT_TIMEOUT_MS },
        headersTimeout: requestTimeoutMs,
        bodyTimeout: requestTimeoutMs,
      }),
    }),
    logger: SILENT,
    // Each request is signed with a hash of its body, and TLS guards the answer.
    md5: false,
    ...configured,
    maxAttempts: 1,
  });
  boundCredentials(client);
  makeLighter(client);
  return client;
}

/**
 * Leaves out what the library does for each request and nobody needs here, at a tenth of what the request costs. Attempts
 * are counted, and repeated with backoff, in one place: the engine. But that the clock is wrong is nobody's failure: the same
 * request is made once more, signed by the time of the answer.
 */
function makeLighter(client: SQSClient): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { systemClockOffset: before } = client.config;
      try {
        return await next(args);
      } catch (thrown) {
        // The library's own mark is not there when the clock was wrong and has been put right.
        const learnt = Math.abs(client.config.systemClockOffset - before) > SKEW_MS;
        if (learnt && maySkew(thrown)) return next(args);
        throw thrown;
      }
    },
    { name: "retryMiddleware", step: "finalizeRequest", priority: "high", override: true },
  );
  client.middlewareStack.remove("loggerMiddleware");
  client.config.signer = madeOnce(client.config.signer);
}

type Signer = SQSClientResolvedConfig["signer"];

/** The library makes a signer for each request; it asks for the credentials, which change, each time it signs. */
function madeOnce(make: Signer): Signer {
  const made = new Map<string, ReturnType<Signer>>();
  return (scheme) => {
    const key = `${scheme?.signingRegion} ${scheme?.signingName}`;
    let signer = made.get(key);
    if (signer === undefined) {
      signer = make(scheme);
      made.set(key, signer);
      signer.catch(() => made.delete(key));
    }
    return signer;
  };
}
