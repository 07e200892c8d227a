import type { Writable } from "node:stream";
import { type Abortable, BridgeError, type Clock, unwatchAbort, watchAbort } from "@bridge/ports";
import { Bag, type Placed, SequenceMap } from "@bridge/ports/internal";
import type { IConnackPacket, IPubackPacket } from "mqtt-packet";
import { encodePublish, MAX_PACKET_SIZE, type PublishFrame, type PublishHead } from "./publish-frame.ts";
import { isFailure, reasonError } from "./reason-codes.ts";
import { TurnWriter } from "./turn-writer.ts";

const MAX_PACKET_ID = 65_535;
/** A broker whose window stays closed for so long, while a publish waited in vain, will not open it any more. */
const STALLED_MS = 5_000;

/** What a broker takes. */
interface Limits {
  /** Publishes that may be unacknowledged at once. */
  readonly window: number;
  readonly packetSize: number;
  readonly qos: number;
  readonly retain: boolean;
}

/** One publish under way. */
interface Pending extends Abortable, Placed {
  readonly frame: PublishFrame;
  /** When it began to wait for the broker's window. */
  waitingSince: number;
  /** 0 until it is written, and at QoS 0. */
  packetId: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Publishes on one connection. Nothing of it outlives the connection: what is unanswered when it is lost fails, and it
 * is for the engine to try again. So a publish that makes a broker drop the connection is never repeated by itself.
 */
export class Publisher {
  readonly #writer: TurnWriter;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #stall: (error: BridgeError) => void;
  /** By packet identifier. Of one that was given up it stays, with `false`, since the broker may still answer it. */
  readonly #unanswered = new SequenceMap<Pending | false>();
  /** In their turn, until the broker's window has room. */
  readonly #waiting = new Set<Pending>();
  /** Written at QoS 0, until the system has taken them. */
  readonly #leaving = new Bag<Pending>();
  #packetId = 0;
  #answeredAt = 0;

  /** `stall` is called when the broker has stopped to answer. */
  constructor(stream: Writable, connack: IConnackPacket, clock: Clock, stall: (error: BridgeError) => void) {
    this.#writer = new TurnWriter(stream);
    this.#clock = clock;
    this.#limits = limitsOf(connack);
    this.#stall = stall;
  }

  get unanswered(): number {
    return this.#unanswered.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when the broker has taken the message; rejects with a {@link BridgeError}, or the signal's reason. */
  publish(head: PublishHead, payload: Uint8Array, signal: AbortSignal): Promise<void> {
    const frame = this.#encode(head, payload);
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        frame,
        signal,
        place: -1,
        waitingSince: 0,
        packetId: 0,
        resolve,
        reject,
        onAbort: () => this.#giveUp(pending),
      };
      watchAbort(pending);
      if (frame.packetIdAt < 0) this.#writeUnacknowledged(pending);
      else if (this.#hasRoom) this.#write(pending);
      else this.#wait(pending);
    });
  }

  acknowledged({ messageId = 0, reasonCode = 0, properties }: IPubackPacket): void {
    const pending = this.#unanswered.take(messageId);
    if (pending === undefined) return;
    if (pending !== false) {
      unwatchAbort(pending);
      if (isFailure(reasonCode)) {
        pending.reject(reasonError("the broker refused the message", reasonCode, properties?.reasonString));
      } else pending.resolve();
    }
    if (this.#waiting.size === 0) return;
    this.#answeredAt = this.#clock.monotonic();
    for (const next of this.#waiting) {
      if (!this.#hasRoom) break;
      this.#waiting.delete(next);
      this.#write(next);
    }
  }

  /** The connection is gone; nothing is published on it any more. */
  lose(error: BridgeError): void {
    // What was not written was not tried.
    const untried = new BridgeError(error.code, error.message, { cause: error, charged: false });
    for (const pending of this.#waiting) this.#fail(pending, untried);
    for (const [, pending] of this.#unanswered.entries()) if (pending !== false) this.#fail(pending, error);
    for (const pending of this.#leaving) this.#fail(pending, error);
    this.#waiting.clear();
    this.#unanswered.clear();
    this.#leaving.clear();
  }

  get #hasRoom(): boolean {
    return this.#unanswered.size < this.#limits.window;
  }

  /** Checked before it is written: a broker may drop the connection over what it does not take. */
  #encode(head: PublishHead, payload: Uint8Array): PublishFrame {
    const { packetSize, qos, retain } = this.#limits;
    if (head.qos > qos) throw reasonError(`the broker takes messages up to qos ${qos}`, 0x9b);
    if (head.retain && !retain) throw reasonError("the message cannot be sent", 0x9a);
    const frame = encodePublish(head, payload);
    if (frame.size <= packetSize) return frame;
    throw new BridgeError("PAYLOAD_TOO_LARGE", `the packet has ${frame.size} bytes, the broker takes ${packetSize}`);
  }

  #write(pending: Pending): void {
    do this.#packetId = (this.#packetId % MAX_PACKET_ID) + 1;
    while (this.#unanswered.has(this.#packetId));
    pending.packetId = this.#packetId;
    this.#unanswered.set(pending.packetId, pending);
    const { chunks, packetIdAt } = pending.frame;
    (chunks[0] as Buffer).writeUInt16BE(pending.packetId, packetIdAt);
    this.#writer.write(chunks);
  }

  #wait(pending: Pending): void {
    pending.waitingSince = this.#clock.monotonic();
    this.#waiting.add(pending);
  }

  #writeUnacknowledged(pending: Pending): void {
    this.#leaving.add(pending);
    this.#writer.write(pending.frame.chunks, (error) => {
      // With an error the connection is on its way out; what is under way then fails together.
      if (error || !this.#leaving.delete(pending)) return;
      unwatchAbort(pending);
      pending.resolve();
    });
  }

  #fail(pending: Pending, error: Error): void {
    unwatchAbort(pending);
    pending.reject(error);
  }

  #giveUp(pending: Pending): void {
    this.#fail(pending, pending.signal.reason as Error);
    if (this.#leaving.delete(pending)) return;
    if (pending.packetId > 0) {
      this.#unanswered.set(pending.packetId, false);
      return;
    }
    this.#waiting.delete(pending);
    const waitedMs = this.#clock.monotonic() - Math.max(pending.waitingSince, this.#answeredAt);
    if (waitedMs < STALLED_MS) return;
    this.#stall(new BridgeError("TIMEOUT", `the broker has answered no publish for ${Math.round(waitedMs)} ms`));
  }
}

function limitsOf({ properties }: IConnackPacket): Limits {
  return {
    window: properties?.receiveMaximum ?? MAX_PACKET_ID,
    packetSize: Math.min(properties?.maximumPacketSize ?? MAX_PACKET_SIZE, MAX_PACKET_SIZE),
    qos: properties?.maximumQoS ?? 2,
    retain: properties?.retainAvailable ?? true,
  };
}
