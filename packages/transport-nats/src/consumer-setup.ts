import { BridgeError, type Logger } from "@bridge/ports";
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
} from "@nats-io/jetstream";
import type { NatsReceiver } from "./nats-receiver.ts";
import { ackWaitOf } from "./options.ts";
import { isConsumerNotFound, isNotFound, requestError } from "./server-error.ts";

const NANOS_PER_MS = 1_000_000;
/** How long a server keeps an ephemeral consumer that nobody pulls from: a connection may be away for that long. */
const INACTIVE_MS = 60_000;

/** What is to be known of a consumer to pull from it. */
export interface ReadyConsumer {
  readonly name: string;
  /** The shortest time in which the server wants to hear of a message that it has handed out. */
  readonly ackWaitMs: number;
  /** Messages that the server hands out before it sees some of them settled. */
  readonly maxAckPending: number;
  readonly maxBatch: number;
  readonly maxExpiresMs: number;
}

/**
 * Finds the consumer that a receiver takes its messages with, or makes it, as the receiver's options say. `last` is the
 * name of the ephemeral one that it had before.
 *
 * @throws BridgeError when it is not there, or is not as it must be
 */
export async function readyConsumer(
  manager: JetStreamManager,
  receiver: NatsReceiver,
  last: string | undefined,
  logger: Logger,
): Promise<ReadyConsumer> {
  const { stream, consumer } = receiver.options;
  const what = `stream ${stream} cannot be consumed`;
  try {
    const found = await find(manager, stream, consumer ?? last);
    const info = found === undefined ? await make(manager, receiver, logger) : await fitting(manager, receiver, found);
    if (found !== undefined && receiver.position !== undefined)
      receiver.position.resumed(found, (await streamOf(manager, receiver)).created);
    const { config } = info;
    warnOfLimits(receiver, config, logger);
    const waits = [config.ack_wait ?? 0, ...(config.backoff ?? [])].filter((nanos) => nanos > 0);
    return {
      name: info.name,
      ackWaitMs: Math.min(...waits) / NANOS_PER_MS,
      maxAckPending: positive(config.max_ack_pending),
      maxBatch: positive(config.max_batch),
      maxExpiresMs: positive(config.max_expires) / NANOS_PER_MS,
    };
  } catch (error) {
    throw requestError(what, error);
  }
}

async function find(
  manager: JetStreamManager,
  stream: string,
  name: string | undefined,
): Promise<ConsumerInfo | undefined> {
  if (name === undefined) return undefined;
  try {
    return await manager.consumers.info(stream, name);
  } catch (error) {
    if (isConsumerNotFound(error)) return undefined;
    throw error;
  }
}

async function make(manager: JetStreamManager, receiver: NatsReceiver, logger: Logger): Promise<ConsumerInfo> {
  const { stream, consumer, filter_subject: filter, deliver = "all" } = receiver.options;
  const { position } = receiver;
  if (position === undefined) {
    throw new BridgeError(
      "DESTINATION_NOT_FOUND",
      `stream ${stream} has no consumer ${consumer}: make it, or set create`,
    );
  }
  const config: Partial<ConsumerConfig> = {
    ...(consumer === undefined ? { inactive_threshold: INACTIVE_MS * NANOS_PER_MS } : { durable_name: consumer }),
    ...(filter !== undefined && { filter_subject: filter }),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: deliver === "all" ? DeliverPolicy.All : DeliverPolicy.New,
    ...adjustable(receiver),
  };
  const { created, first, last } = await streamOf(manager, receiver);
  const from = position.in(created);
  if (from !== undefined) {
    config.deliver_policy = DeliverPolicy.StartSequence;
    config.opt_start_seq = from;
    if (consumer !== undefined) {
      logger.warn(
        "the consumer was deleted and is made again behind what the server had seen settled: messages settled since then come again",
        { receiver_id: receiver.id, stream, consumer, from },
      );
    }
  } else if (consumer === undefined && deliver === "new") {
    logger.warn(
      "an ephemeral consumer begins with what is new: what an earlier start had not settled, and what came since, is lost; name a consumer to keep it",
      { receiver_id: receiver.id, stream },
    );
  }
  const made = await manager.consumers.add(stream, config);
  if (from === undefined && consumer !== undefined && deliver === "new") {
    logger.warn(
      "a consumer was made that begins with what is new: if there was one of its name before, what that had not settled, and what came since it was deleted, is skipped",
      { receiver_id: receiver.id, stream, consumer },
    );
  }
  position.began(from ?? (deliver === "all" ? Math.max(first, 1) : last + 1), created);
  return made;
}

/** When the stream was made (in another one of its name, places mean other messages), and what is in it. */
async function streamOf(
  manager: JetStreamManager,
  { options: { stream, consumer } }: NatsReceiver,
): Promise<{ readonly created: string; readonly first: number; readonly last: number }> {
  try {
    const { created, state } = await manager.streams.info(stream);
    return { created, first: state.first_seq, last: state.last_seq };
  } catch (error) {
    if (consumer === undefined || isNotFound(error)) throw error;
    // Who may not ask begins with the first message of the stream, should the durable consumer be deleted.
    return { created: "", first: 1, last: 0 };
  }
}

/** What may change while a consumer is there. */
function adjustable(receiver: NatsReceiver): { readonly ack_wait: number; readonly max_ack_pending: number } {
  return { ack_wait: ackWaitOf(receiver.options) * NANOS_PER_MS, max_ack_pending: receiver.maxAckPending };
}

async function fitting(
  manager: JetStreamManager,
  receiver: NatsReceiver,
  { config, name, ...info }: ConsumerInfo,
): Promise<ConsumerInfo> {
  const { stream, consumer, create, filter_subject: filter } = receiver.options;
  const found = { ...info, config, name };
  const refuse = (is: string, remedy: string): never => {
    throw new BridgeError("REJECTED", `consumer ${name} of stream ${stream} ${is}: ${remedy}`);
  };
  if (config.deliver_subject !== undefined) refuse("pushes its messages", "name one that is pulled from");
  if (config.ack_policy !== AckPolicy.Explicit)
    refuse(`has the ack policy "${config.ack_policy}"`, 'the bridge needs "explicit"');
  if (consumer === undefined || !create) return found;
  const filters = config.filter_subjects ?? [config.filter_subject ?? ""];
  if (filters.length !== 1 || filters[0] !== (filter ?? ""))
    refuse(
      `takes the subjects "${filters.join('", "') || ">"}"`,
      "correct filter_subject, remove create, or delete the consumer",
    );
  const wanted = adjustable(receiver);
  if (config.ack_wait === wanted.ack_wait && config.max_ack_pending === wanted.max_ack_pending) return found;
  return manager.consumers.update(stream, name, wanted);
}

function warnOfLimits(receiver: NatsReceiver, { max_deliver: maxDeliver = -1 }: ConsumerConfig, logger: Logger): void {
  if (maxDeliver <= 0 || maxDeliver > receiver.maxReplayAttempts) return;
  logger.warn(
    "the consumer gives messages up before the bridge does: raise its max_deliver above max_replay_attempts, or the bridge's own dead letters will miss some",
    {
      receiver_id: receiver.id,
      stream: receiver.options.stream,
      max_deliver: maxDeliver,
      max_replay_attempts: receiver.maxReplayAttempts,
    },
  );
}

function positive(limit: number | undefined): number {
  return limit !== undefined && limit > 0 ? limit : Number.POSITIVE_INFINITY;
}
