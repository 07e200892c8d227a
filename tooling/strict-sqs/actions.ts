import type { StrictQueue } from "./queue.ts";
import { Refusal } from "./refusal.ts";
import { checkBatch, LIMITS, sizeOf } from "./rules.ts";
import type { BatchEntry, Fault, SendEntry } from "./wire.ts";

export type EntriesFault = Extract<Fault, { readonly kind: "entries" }>;
type Input = Readonly<Record<string, unknown>>;

/** Everything that is done to one queue and needs no waiting. */
export const ACTIONS: Readonly<Record<string, (queue: StrictQueue, input: Input, fault?: EntriesFault) => unknown>> = {
  SendMessage: (queue, input) => queue.send(input as unknown as SendEntry),
  SendMessageBatch(queue, input, fault) {
    const entries = entriesOf(input);
    const size = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
    if (size > LIMITS.messageBytes) throw new Refusal("BatchRequestTooLong", "The batch is too large.");
    return batch(entries, (entry) => ({ Id: entry.Id, ...queue.send(entry) }), fault);
  },
  DeleteMessage(queue, input) {
    queue.delete(String(input["ReceiptHandle"]));
    return {};
  },
  DeleteMessageBatch: (queue, input, fault) =>
    batch(
      entriesOf(input),
      ({ Id, ReceiptHandle }) => {
        queue.delete(ReceiptHandle);
        return { Id };
      },
      fault,
    ),
  ChangeMessageVisibility(queue, input) {
    queue.changeVisibility(String(input["ReceiptHandle"]), Number(input["VisibilityTimeout"]));
    return {};
  },
  ChangeMessageVisibilityBatch: (queue, input, fault) =>
    batch(
      entriesOf(input),
      ({ Id, ReceiptHandle, VisibilityTimeout }) => {
        queue.changeVisibility(ReceiptHandle, VisibilityTimeout);
        return { Id };
      },
      fault,
    ),
  GetQueueAttributes: (queue) => ({
    Attributes: {
      ...queue.attributes,
      QueueArn: queue.arn,
      ...(queue.fifo && { FifoQueue: "true" }),
      ApproximateNumberOfMessages: String(queue.bodies.length - queue.inFlight),
      ApproximateNumberOfMessagesNotVisible: String(queue.inFlight),
    },
  }),
};

function entriesOf(input: Input): readonly BatchEntry[] {
  const entries = (input["Entries"] ?? []) as readonly BatchEntry[];
  checkBatch(entries);
  return entries;
}

/** Carries out each entry by itself: one that is refused does not concern the others. */
function batch(entries: readonly BatchEntry[], act: (entry: BatchEntry) => object, fault?: EntriesFault): object {
  const Successful: object[] = [];
  const Failed: object[] = [];
  for (const entry of entries) {
    try {
      if (fault?.silent === true && fault.fails(entry)) {
        act(entry);
        continue;
      }
      if (fault?.fails(entry) === true)
        throw new Refusal(fault.code, "injected", fault.senderFault === true ? 400 : 500);
      Successful.push(act(entry));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      Failed.push({ Id: entry.Id, Code: error.code, Message: error.message, SenderFault: error.status < 500 });
    }
  }
  return { Successful, Failed };
}
