import { Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import { Duration, RemovalPolicy } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import type { Deployment, QueueSettings } from "./deployment.ts";

/**
 * Receives beyond the replay cap before the queue gives a message up. Restarts and takeovers count as receives too, and
 * it is the bridge, which keeps reasons, that should give up first.
 */
const SPARE_RECEIVES = 10;
/** The longest that SQS keeps a message. */
const LONGEST_RETENTION = Duration.days(14);

export interface BridgeQueue {
  readonly settings: QueueSettings;
  readonly queue: Queue;
  /** Takes what was received over and over and never settled. Whatever is in it has passed the bridge by. */
  readonly givenUp: Queue;
}

export function queuesOf(scope: Construct, { bridge_id, queues }: Deployment): readonly BridgeQueue[] {
  return queues.map((settings) => {
    const name = `bridge-${bridge_id}-${settings.name}`;
    const givenUp = queueOf(scope, `${settings.name}-given-up`, `${name}-given-up`, settings.fifo, {
      retentionPeriod: LONGEST_RETENTION,
    });
    const queue = queueOf(scope, settings.name, name, settings.fifo, {
      visibilityTimeout: Duration.millis(settings.visibility_timeout),
      retentionPeriod: Duration.millis(settings.retention),
      deadLetterQueue: { queue: givenUp, maxReceiveCount: settings.max_replay_attempts + SPARE_RECEIVES },
    });
    return { settings, queue, givenUp };
  });
}

function queueOf(scope: Construct, id: string, name: string, fifo: boolean, more: QueueProps): Queue {
  return new Queue(scope, `Queue-${id}`, {
    ...more,
    queueName: fifo ? `${name}.fifo` : name,
    ...(fifo && { fifo }),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
}
