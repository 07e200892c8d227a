import { BridgeError, encodePayload, type Clock, type Settlement, type SourceMessage } from "@bridge/ports";
import { ChannelQueue, type Held } from "./channel-queue.ts";
import { FaultGate } from "./fault-gate.ts";
import { RingQueue } from "./ring-queue.ts";
import { Watchers } from "./watchers.ts";

/** A message to publish; text is encoded as UTF-8. */
export interface MemoryMessage extends Omit<SourceMessage, "subject" | "payload"> {
  /** Default: the channel's name. */
  readonly subject?: string;
  /** Default: empty. */
  readonly payload?: Uint8Array | string;
}

/** What the channel was told about one of its messages. */
export interface SettledMessage {
  readonly message: SourceMessage;
  readonly settlement: Settlement;
}

export interface ChannelOptions {
  readonly maxMessages: number;
  readonly history: number;
}

/** Of what is remembered, besides the last settlement. */
const MAX_HISTORY_BYTES = 1024 * 1024;

/**
 * A named queue inside the process. Senders put messages in, receivers take them out; several receivers share them.
 *
 * The channel owns a message until it is accepted: what a receiver did not settle comes back in front of the others.
 * The counters only grow.
 */
export class MemoryChannel {
  readonly name: string;
  /** Whether there has been a receiver that takes messages from it. */
  isSource = false;
  /** Switches for the sends into this channel. */
  readonly sends: FaultGate;
  /** Switches for the settlements of this channel's deliveries. A message whose settlement fails comes back. */
  readonly settles: FaultGate;
  /** Switches for the opening of this channel's receivers. */
  readonly opens: FaultGate;
  /** For receivers: the messages that nobody holds. */
  readonly queue = new ChannelQueue();

  readonly #options: ChannelOptions;
  readonly #history = new RingQueue<SettledMessage>();
  #historyBytes = 0;
  readonly #watchers = new Watchers();
  readonly #consumers = new Set<(cause: BridgeError) => void>();
  #arrived = 0;
  #handedOut = 0;
  #accepted = 0;
  #released = 0;
  #unsettled = 0;

  constructor(name: string, options: ChannelOptions) {
    this.name = name;
    this.#options = options;
    const changed = (): void => this.#watchers.changed();
    this.sends = new FaultGate(changed);
    this.settles = new FaultGate(changed);
    this.opens = new FaultGate(changed);
  }

  /** How many messages have been put in. */
  get arrived(): number {
    return this.#arrived;
  }

  /** How many deliveries have been handed out, redeliveries included. */
  get handedOut(): number {
    return this.#handedOut;
  }

  /** How many deliveries have been accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many deliveries have been released. */
  get released(): number {
    return this.#released;
  }

  /** How many deliveries are out at the moment. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** The messages that are ready to be taken, oldest first. */
  messages(): readonly SourceMessage[] {
    return Array.from(this.queue.ready(), (held) => held.message);
  }

  /** Takes the messages that are ready out of the channel, for good. */
  drain(): readonly SourceMessage[] {
    const messages = this.messages();
    this.queue.clear();
    this.#watchers.changed();
    return messages;
  }

  /** The last settlements, oldest first: as many as the hub's `history` says, and as fit into 1 MiB of payloads. */
  settlements(): readonly SettledMessage[] {
    return [...this.#history];
  }

  /**
   * Puts a message in; with `undecodable`, one that its receivers hand out as impossible to decode.
   * @throws BridgeError `UNAVAILABLE` when the channel is full; TypeError for a text with half a character
   */
  publish(message: MemoryMessage, undecodable?: BridgeError): void {
    const { subject = this.name, payload = "", ...rest } = message;
    const bytes = typeof payload === "string" ? encodePayload(payload).payload : payload;
    this.put({ ...rest, subject, payload: bytes }, undefined, undecodable);
  }

  /** Lets the open iterations of receivers without a session throw `cause`; what they hold comes back. */
  interrupt(cause: BridgeError): void {
    for (const lose of this.#consumers) lose(cause);
  }

  /** Resolves once `condition` holds, which is tried now and after each change; rejects when `signal` aborts. */
  async until(condition: (channel: this) => boolean, signal: AbortSignal): Promise<void> {
    await this.#watchers.until(() => condition(this), signal);
  }

  /** Resolves once `count` messages have arrived since the channel was made, with those that are ready. */
  async waitForMessages(count: number, signal: AbortSignal): Promise<readonly SourceMessage[]> {
    await this.until((channel) => channel.arrived >= count, signal);
    return this.messages();
  }

  /** Resolves once `count` deliveries have been settled since the channel was made, with the last settlements. */
  async waitForSettlements(count: number, signal: AbortSignal): Promise<readonly SettledMessage[]> {
    await this.until((channel) => channel.accepted + channel.released >= count, signal);
    return this.settlements();
  }

  /**
   * For senders: as {@link publish}, with a limit of the sender's own.
   * @throws BridgeError `UNAVAILABLE` when the channel is full
   */
  put(message: SourceMessage, maxMessages = this.#options.maxMessages, undecodable?: BridgeError): void {
    if (this.queue.size + this.#unsettled >= maxMessages) {
      throw new BridgeError(
        "UNAVAILABLE",
        `channel "${this.name}" is full: it holds ${maxMessages} messages; consume them, or raise max_messages`,
      );
    }
    this.#arrived++;
    this.queue.put({ message, undecodable, receiveCount: 0 });
    this.#watchers.changed();
  }

  /** For senders: counts a message that nobody will read. */
  countOnly(): void {
    this.#arrived++;
    this.#watchers.changed();
  }

  /** For receivers: the next message, now theirs. */
  take(clock: Clock): Held | undefined {
    const held = this.queue.take(clock);
    if (held === undefined) return undefined;
    held.receiveCount++;
    this.#handedOut++;
    this.#unsettled++;
    this.#watchers.changed();
    return held;
  }

  /** For receivers: takes messages back that were not settled. */
  giveBack(batch: readonly Held[], delayMs: number, clock: Clock): void {
    this.#unsettled -= batch.length;
    if (delayMs === 0) this.queue.putBack(batch);
    else for (const held of batch) this.queue.putLater(held, clock.monotonic() + delayMs);
    this.#watchers.changed();
  }

  /** For receivers: a message that was taken has been settled. */
  settle(held: Held, settlement: Settlement, clock: Clock): void {
    this.#unsettled--;
    if (settlement.kind !== "release") {
      this.#accepted++;
    } else {
      this.#released++;
      if (settlement.delayMs > 0) this.queue.putLater(held, clock.monotonic() + settlement.delayMs);
      else this.queue.put(held);
    }
    this.#remember({ message: held.message, settlement });
    this.#watchers.changed();
  }

  /** For receivers: tells them of {@link interrupt} until the result is disposed. */
  onInterrupt(lose: (cause: BridgeError) => void): Disposable {
    this.#consumers.add(lose);
    return { [Symbol.dispose]: () => void this.#consumers.delete(lose) };
  }

  #remember(settled: SettledMessage): void {
    if (this.#options.history === 0) return;
    this.#history.push(settled);
    this.#historyBytes += settled.message.payload.length;
    while (
      this.#history.size > this.#options.history ||
      (this.#historyBytes > MAX_HISTORY_BYTES && this.#history.size > 1)
    )
      this.#historyBytes -= this.#history.shift()?.message.payload.length ?? 0;
  }
}
