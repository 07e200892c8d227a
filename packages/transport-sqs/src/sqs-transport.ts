import type { SQSClientConfig } from "@aws-sdk/client-sqs";
import { defineFactory, type ReceiverContext, type SenderContext, type TransportPlugin } from "@bridge/ports";
import { receiverOptions, senderOptions } from "./options.ts";
import { queueUrlProblem } from "./queue-url.ts";
import { SqsReceiver } from "./receiver/sqs-receiver.ts";
import { SqsSender } from "./sender/sqs-sender.ts";

export interface SqsTransportSettings {
  /**
   * What the SDK would otherwise take from its environment and its files: region, endpoint, credentials. Without an
   * `endpoint` requests go to the host of each queue's URL. Default: nothing.
   */
  readonly client?: SQSClientConfig;
}

/**
 * The transport `sqs`: standard and FIFO queues of Amazon SQS. Each receiver and sender has a client of its own.
 *
 * @example
 * const plugins = { transports: [sqsTransport()] };
 */
export function sqsTransport({ client = {} }: SqsTransportSettings = {}): TransportPlugin {
  return {
    type: "sqs",
    messagingSystem: "aws_sqs",
    receiver: {
      needsSession: false,
      topics: "refused",
      redelivers: "always",
      competing: true,
      ...defineFactory({
        options: receiverOptions,
        create: (options, context: ReceiverContext) => new SqsReceiver(options, client, context),
      }),
    },
    sender: {
      needsSession: false,
      addressProblem: (address) => (address === "" ? undefined : queueUrlProblem(address)),
      ...defineFactory({
        options: senderOptions,
        create: (options, { clock }: SenderContext) => new SqsSender(options, client, clock),
      }),
    },
  };
}
