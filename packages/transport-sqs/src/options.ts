import { describe, duration, integer, text } from "@bridge/ports/options";
import * as v from "valibot";
import { QUEUE_URL, queueUrlProblem } from "./queue-url.ts";

/** What SQS itself allows. */
const MAX_WAIT_MS = 20_000;
const MAX_VISIBILITY_MS = 12 * 3_600_000;
/** Shorter, a busy process would lose what it holds between two extensions. */
const MIN_VISIBILITY_MS = 2_000;

/** The characters that SQS allows in the ids of groups and in those for deduplication. */
export const GROUP_ID = /^[!-~]{1,128}$/;

export const receiverOptions = v.strictObject({
  queue_url: describe(queueUrl(), "The URL of the queue."),
  max_messages: describe(v.optional(integer(1, 10), 10), "How many messages one request takes at most."),
  wait_time: describe(
    v.optional(seconds(1_000, MAX_WAIT_MS, "must be from 1s to 20s"), "20s"),
    "How long a request waits for a message, in whole seconds.",
  ),
  visibility_timeout: describe(
    v.optional(seconds(MIN_VISIBILITY_MS, MAX_VISIBILITY_MS, "must be from 2s to 12h"), "30s"),
    "How long a message stays hidden from other consumers; extended while the bridge holds it. When the bridge is killed, its messages come again after this time. Whole seconds.",
  ),
});

export type ReceiverOptions = v.InferOutput<typeof receiverOptions>;

export const senderOptions = v.strictObject({
  queue_url: describe(
    v.optional(queueUrl()),
    "The URL of the queue. Default: the binding's address, which wins when there are both.",
  ),
  message_group_id: describe(
    v.optional(
      v.pipe(text(), v.regex(GROUP_ID, "must be 1 to 128 letters, digits and marks of ASCII, without spaces")),
    ),
    "The group, in a FIFO queue, of messages that have no ordering key. Without it they fail.",
  ),
});

export type SenderOptions = v.InferOutput<typeof senderOptions>;

function queueUrl() {
  return v.pipe(
    text(),
    v.rawCheck(({ dataset, addIssue }) => {
      const problem = dataset.typed ? queueUrlProblem(dataset.value) : undefined;
      if (problem !== undefined) addIssue({ message: problem });
    }),
    v.metadata({ pattern: QUEUE_URL.source }),
  );
}

/** A duration in whole seconds, as SQS knows no others; its output is milliseconds. */
function seconds(min: number, max: number, range: string) {
  return v.pipe(duration({ min, max, problem: range }), v.multipleOf(1_000, "must be whole seconds"));
}
