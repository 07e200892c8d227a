import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { BridgeError, type Logger } from "@bridge/ports";
import { sqsError } from "../sqs-error.ts";

export interface Inspection {
  readonly receiverId: string;
  readonly queueUrl: string;
  readonly maxReplayAttempts: number;
  readonly logger: Logger;
}

const NEEDED = "sqs:GetQueueAttributes, sqs:ReceiveMessage, sqs:DeleteMessage and sqs:ChangeMessageVisibility";

/**
 * Looks at the queue once, at the start: is it there, and does it give messages up before the bridge does? SQS that is
 * away for a while does not keep the bridge from starting.
 *
 * @throws Error that says what to do when the queue is not there, or must not be used
 */
export async function inspectQueue(client: SQSClient, inspection: Inspection, signal: AbortSignal): Promise<void> {
  const { receiverId, queueUrl, maxReplayAttempts, logger } = inspection;
  const command = new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["RedrivePolicy"] });
  const answer = await client.send(command, { abortSignal: signal }).catch((thrown: unknown) => {
    signal.throwIfAborted();
    return sqsError(`receiver "${receiverId}": the queue ${queueUrl} cannot be looked at`, thrown);
  });
  if (BridgeError.is(answer)) {
    const { class: kind, code, message } = answer;
    if (kind !== "transient" || code === "INTERNAL") throw new Error(`${message}${remedy(code)}`);
    logger.warn("the queue could not be looked at; the receiver goes on trying", {
      queue_url: queueUrl,
      error: message,
    });
    return;
  }
  const maxReceiveCount = maxReceives(answer.Attributes?.RedrivePolicy);
  if (maxReceiveCount === undefined || maxReceiveCount > maxReplayAttempts) return;
  logger.warn(
    "the queue gives messages up before the bridge does: raise maxReceiveCount of its redrive policy above max_replay_attempts, or the bridge's own dead letters will miss some",
    { queue_url: queueUrl, max_receive_count: maxReceiveCount, max_replay_attempts: maxReplayAttempts },
  );
}

function remedy(code: string): string {
  switch (code) {
    case "DESTINATION_NOT_FOUND":
      return ": create the queue, or correct queue_url and the SDK's region";
    case "FORBIDDEN":
      return `: the receiver needs ${NEEDED}`;
    case "NOT_AUTHORIZED":
      return ": check the credentials of the SDK's configuration";
    default:
      return ": check the SDK's configuration (region, credentials) and queue_url";
  }
}

/** `undefined`: it never does, or what is written there is no policy. */
function maxReceives(policy: string | undefined): number | undefined {
  const written = /"maxReceiveCount"\s*:\s*"?(\d{1,9})\b/.exec(String(policy));
  return written === null ? undefined : Number(written[1]);
}
