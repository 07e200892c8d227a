import {
  type AddressedSender,
  type RateLimited,
  type ReceiverDefinition,
  sendersOf,
  type TargetDefinition,
  type TransportMaker,
  type TransportPlugin,
} from "@bridge/ports";
import { givenOptions, moreOptions } from "@bridge/ports/internal";
import type { SqsReceiverOptions, SqsSenderOptions } from "./option-types.ts";
import { sqsTransport, type SqsTransportSettings } from "./sqs-transport.ts";

/** The transport `sqs`, for definitions in code and for registries. */
export interface SqsAdapter extends TransportMaker {
  /** Takes messages from a queue: for `from`. */
  queue(url: string, options?: Omit<SqsReceiverOptions, "queue_url">): ReceiverDefinition;
  /** Sends to a queue: for `to`. */
  at(queueUrl: string, options?: SqsSenderOptions & RateLimited): TargetDefinition;
  /** A sender that several targets share. */
  sender(options?: SqsSenderOptions & RateLimited): AddressedSender;
  /** The plugin itself, for those who wrap it. */
  plugin(): TransportPlugin;
}

/**
 * Standard and FIFO queues of Amazon SQS.
 *
 * @example
 * const queues = sqs({ client: { region: "eu-central-1" } });
 * const routes = { orders: { from: queues.queue(ordersUrl), to: queues.at(invoicesUrl) } };
 */
export function sqs(given: SqsTransportSettings = {}): SqsAdapter {
  const settings = givenOptions("sqs", given);
  const transport = { type: "sqs", plugin: () => sqsTransport(settings) };
  return Object.assign(transport, sendersOf<SqsSenderOptions>({ transport }), {
    queue: (url: string, options?: Omit<SqsReceiverOptions, "queue_url">): ReceiverDefinition => ({
      kind: "receiver",
      transport,
      options: { ...moreOptions("a queue of sqs", options), queue_url: url },
    }),
  });
}
