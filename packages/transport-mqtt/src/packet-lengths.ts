import { messageTooLarge, strangerError } from "@bridge/ports/internal";
import { BridgeError } from "@bridge/ports";

/** A length has seven bits in each of its bytes, and one that says whether another follows. */
const LENGTH_BITS = 0x7f;
const MORE = 0x80;
const MAX_LENGTH_BYTES = 4;
/** What a broker may begin with. */
const [CONNACK, AUTH] = [0x20, 0xf0];

/**
 * Follows what a broker says, as far as to know how long each packet is as soon as that is said. The client library keeps
 * whatever is announced.
 */
export class PacketLengths {
  readonly #label: string;
  readonly #limit: number;
  #begun = false;
  /** Bytes of the packet that come before the next one. */
  #rest = 0;
  /** Of the head of a packet: bytes read, its length as far as that is known. */
  #head = 0;
  #length = 0;

  constructor(label: string, limit: number) {
    this.#label = label;
    this.#limit = limit;
  }

  /** @throws BridgeError when more is announced than may be, or this is not MQTT */
  look(bytes: Buffer): void {
    if (!this.#begun && bytes.length > 0) {
      if (bytes[0] !== CONNACK && bytes[0] !== AUTH) throw strangerError(this.#label, "MQTT", bytes);
      this.#begun = true;
    }
    for (let at = 0; at < bytes.length;) {
      if (this.#rest > 0) {
        const step = Math.min(this.#rest, bytes.length - at);
        this.#rest -= step;
        at += step;
      } else this.#readHead(bytes[at++] as number);
    }
  }

  #readHead(byte: number): void {
    if (this.#head++ === 0) {
      this.#length = 0;
      return;
    }
    this.#length += (byte & LENGTH_BITS) * 2 ** (7 * (this.#head - 2));
    if ((byte & MORE) !== 0) {
      if (this.#head <= MAX_LENGTH_BYTES) return;
      throw new BridgeError("CONNECTION_LOST", `${this.#label}: the broker has sent a packet whose length has no end`);
    }
    const size = this.#head + this.#length;
    if (size > this.#limit) throw messageTooLarge(this.#label, size, this.#limit);
    this.#rest = this.#length;
    this.#head = 0;
  }
}
