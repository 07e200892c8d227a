import { createHash, randomUUID } from "node:crypto";
import { Deduplication } from "./deduplication.ts";
import { invalidParameter, Refusal } from "./refusal.ts";
import { checkMessage, checkRange, LIMITS } from "./rules.ts";
import type { ReceivedMessage, ReceiveInput, SendEntry, SendResult } from "./wire.ts";

/** A message in a queue. Times are seconds. */
interface Stored {
  readonly id: string;
  readonly sequence: number;
  readonly entry: SendEntry;
  readonly sentAt: number;
  receiveCount: number;
  /** Until then nobody gets it: it is delayed, or in flight. */
  hiddenUntil: number;
  receivedAt: number;
  /** The receipt of the last time that it was handed out. */
  handle: string | undefined;
}

export interface QueueOptions {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Seconds that never jump. */
  readonly now: () => number;
  /** Where messages go that were received too often. */
  readonly deadLetters: (arn: string) => StrictQueue | undefined;
}

/** One queue, by the rules of AWS. Nothing happens in it by itself: what is due is seen when somebody looks. */
export class StrictQueue {
  readonly name: string;
  readonly fifo: boolean;
  readonly attributes: Record<string, string>;
  readonly #options: QueueOptions;
  readonly #deduplication: Deduplication;
  readonly #attempts = new Map<string, { readonly at: number; readonly handles: readonly string[] }>();
  #messages: Stored[] = [];
  #sequence = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.name = options.name;
    this.fifo = options.name.endsWith(".fifo");
    this.attributes = {
      VisibilityTimeout: "30",
      MaximumMessageSize: String(LIMITS.messageBytes),
      ...options.attributes,
    };
    this.#deduplication = new Deduplication(this.attributes, options.now);
  }

  get arn(): string {
    return `arn:aws:sqs:us-east-1:000000000000:${this.name}`;
  }

  /** Bodies of what is in the queue, in flight or not, oldest first. */
  get bodies(): readonly string[] {
    return this.#messages.map(({ entry }) => entry.MessageBody);
  }

  get inFlight(): number {
    return this.#messages.filter((message) => this.#isInFlight(message)).length;
  }

  /** When something that is hidden will be seen. */
  get nextChange(): number {
    const now = this.#options.now();
    return Math.min(
      ...this.#messages.filter(({ hiddenUntil }) => hiddenUntil > now).map(({ hiddenUntil }) => hiddenUntil),
    );
  }

  send(entry: SendEntry): SendResult {
    checkMessage(entry, this.fifo, Number(this.attributes["MaximumMessageSize"]));
    const MD5OfMessageBody = md5(entry.MessageBody);
    if (!this.fifo) return { MessageId: this.#store(entry).id, MD5OfMessageBody };
    const stored = this.#deduplication.once(entry, () => this.#store(entry));
    return { MessageId: stored.id, MD5OfMessageBody, SequenceNumber: stored.sequence.toString().padStart(20, "0") };
  }

  receive(input: ReceiveInput): readonly ReceivedMessage[] {
    const { MaxNumberOfMessages = 1, VisibilityTimeout = Number(this.attributes["VisibilityTimeout"]) } = input;
    checkRange("MaxNumberOfMessages", MaxNumberOfMessages, 10, 1);
    checkRange("VisibilityTimeout", VisibilityTimeout, LIMITS.hiddenSeconds);
    const now = this.#options.now();
    const again = this.#sameAttempt(input.ReceiveRequestAttemptId, now);
    const taken = again ?? this.#takeVisible(MaxNumberOfMessages, now);
    for (const message of taken) {
      message.hiddenUntil = now + VisibilityTimeout;
      if (again !== undefined) continue;
      message.receiveCount++;
      message.receivedAt = now;
      message.handle = Buffer.from(JSON.stringify([this.name, message.id, message.receiveCount])).toString("base64");
    }
    if (this.fifo && input.ReceiveRequestAttemptId !== undefined && taken.length > 0) {
      this.#attempts.set(input.ReceiveRequestAttemptId, { at: now, handles: taken.map(({ handle = "" }) => handle) });
    }
    return taken.map((message) => this.#handOut(message, input));
  }

  /** A stale receipt of a standard queue is taken, and may do nothing; one of a FIFO queue is refused. */
  delete(handle: string): void {
    const { message, current } = this.#find(handle);
    if (message === undefined) return;
    if (this.fifo && !(current && this.#isInFlight(message))) throw invalidParameter("The receipt handle has expired.");
    if (current) this.#remove(message);
  }

  changeVisibility(handle: string, seconds: number): void {
    checkRange("VisibilityTimeout", seconds, LIMITS.hiddenSeconds);
    const { message, current } = this.#find(handle);
    if (message === undefined) throw invalidParameter("The message does not exist.");
    if (!current || !this.#isInFlight(message))
      throw new Refusal("MessageNotInflight", "The message is not in flight.");
    const now = this.#options.now();
    if (now + seconds - message.receivedAt > LIMITS.hiddenSeconds) {
      throw invalidParameter("Total VisibilityTimeout for the message is beyond the limit.");
    }
    message.hiddenUntil = now + seconds;
  }

  /** Ends every visibility timeout, as if that much time had passed. */
  lapse(): void {
    for (const message of this.#messages) if (this.#isInFlight(message)) message.hiddenUntil = 0;
  }

  /** Takes over a message that another queue has given up. */
  adopt(entry: SendEntry): void {
    this.#store(entry);
  }

  #store(entry: SendEntry): Stored {
    const now = this.#options.now();
    const delay = entry.DelaySeconds ?? Number(this.attributes["DelaySeconds"] ?? 0);
    const stored: Stored = {
      id: randomUUID(),
      sequence: ++this.#sequence,
      entry,
      sentAt: now,
      receiveCount: 0,
      hiddenUntil: now + delay,
      receivedAt: 0,
      handle: undefined,
    };
    this.#messages.push(stored);
    return stored;
  }

  /** Of a FIFO queue: no message of a group of which one is hidden, and of each group the oldest ones. */
  #takeVisible(count: number, now: number): readonly Stored[] {
    const locked = new Set<string>();
    const taken: Stored[] = [];
    for (const message of this.#messages) {
      const group = this.fifo ? message.entry.MessageGroupId : undefined;
      const hidden = message.hiddenUntil > now;
      if (hidden && group !== undefined) locked.add(group);
      if (hidden || taken.length === count || (group !== undefined && locked.has(group))) continue;
      if (!this.#gaveUp(message)) taken.push(message);
    }
    return taken;
  }

  /** A message that was received too often goes to the dead-letter queue when somebody asks for it again. */
  #gaveUp(message: Stored): boolean {
    const policy = this.attributes["RedrivePolicy"];
    if (policy === undefined) return false;
    const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(policy) as {
      readonly deadLetterTargetArn: string;
      readonly maxReceiveCount: number | string;
    };
    if (message.receiveCount < Number(maxReceiveCount)) return false;
    this.#options.deadLetters(deadLetterTargetArn)?.adopt(message.entry);
    this.#remove(message);
    return true;
  }

  /** The answer to a FIFO request that was lost may be asked for again, as long as nothing of it has changed. */
  #sameAttempt(id: string | undefined, now: number): readonly Stored[] | undefined {
    const attempt = this.fifo && id !== undefined ? this.#attempts.get(id) : undefined;
    if (attempt === undefined || now - attempt.at > LIMITS.deduplicationSeconds) return undefined;
    const found = attempt.handles.map((handle) => this.#messages.find((message) => message.handle === handle));
    const messages = found.filter((message) => message !== undefined && this.#isInFlight(message)) as Stored[];
    return messages.length === found.length ? messages : undefined;
  }

  #find(handle: string): { readonly message: Stored | undefined; readonly current: boolean } {
    let parts: unknown;
    try {
      parts = JSON.parse(Buffer.from(handle, "base64").toString());
    } catch {
      parts = undefined;
    }
    if (!Array.isArray(parts) || parts[0] !== this.name) {
      throw new Refusal("ReceiptHandleIsInvalid", "The input receipt handle is invalid.");
    }
    const message = this.#messages.find(({ id }) => id === parts[1]);
    return { message, current: message?.handle === handle };
  }

  #isInFlight({ handle, hiddenUntil }: Stored): boolean {
    return handle !== undefined && hiddenUntil > this.#options.now();
  }

  #remove(message: Stored): void {
    this.#messages = this.#messages.filter((each) => each !== message);
  }

  #handOut(message: Stored, input: ReceiveInput): ReceivedMessage {
    const { entry } = message;
    const system: Readonly<Record<string, string | undefined>> = {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(Math.round(message.sentAt * 1_000)),
      MessageGroupId: entry.MessageGroupId,
      MessageDeduplicationId: this.fifo ? this.#deduplication.idOf(entry) : undefined,
      SequenceNumber: this.fifo ? message.sequence.toString().padStart(20, "0") : undefined,
    };
    const Attributes = picked(system, input.MessageSystemAttributeNames ?? []);
    const MessageAttributes = picked(entry.MessageAttributes ?? {}, input.MessageAttributeNames ?? []);
    return {
      MessageId: message.id,
      ReceiptHandle: message.handle ?? "",
      Body: entry.MessageBody,
      MD5OfBody: md5(entry.MessageBody),
      ...(Attributes !== undefined && { Attributes }),
      ...(MessageAttributes !== undefined && { MessageAttributes }),
    };
  }
}

/** Only what was asked for is handed out. */
function picked<Value>(
  values: Readonly<Record<string, Value | undefined>>,
  names: readonly string[],
): Record<string, Value> | undefined {
  const all = names.includes("All") || names.includes(".*");
  const chosen = Object.entries(values).filter(([name, value]) => value !== undefined && (all || names.includes(name)));
  return chosen.length === 0 ? undefined : (Object.fromEntries(chosen) as Record<string, Value>);
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
