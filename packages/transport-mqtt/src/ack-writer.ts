import type { Writable } from "node:stream";

const PUBACK = 0x40;
/** A PUBACK that says "success" has nothing but the packet identifier, in both versions of the protocol. */
const PUBACK_LENGTH = 2;
const PUBACK_SIZE = 4;
/** So many go out before the rest of a turn is done, so that the broker has something to do meanwhile. */
const ACKS_PER_WRITE = 32;

/** Writes acknowledgements to one stream, those of one turn of the event loop together. */
export class AckWriter {
  readonly #stream: Writable;
  readonly #onWritten: (count: number) => void;
  #packetIds: number[] = [];
  #scheduled = false;

  /** `onWritten` is told how many have been written. */
  constructor(stream: Writable, onWritten: (count: number) => void) {
    this.#stream = stream;
    this.#onWritten = onWritten;
  }

  acknowledge(packetId: number): void {
    this.#packetIds.push(packetId);
    if (this.#packetIds.length >= ACKS_PER_WRITE) this.flush();
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  flush(): void {
    const packetIds = this.#packetIds;
    if (packetIds.length === 0) return;
    this.#packetIds = [];
    if (this.#stream.destroyed) return;
    const bytes = Buffer.allocUnsafe(packetIds.length * PUBACK_SIZE);
    let at = 0;
    for (const packetId of packetIds) {
      bytes[at++] = PUBACK;
      bytes[at++] = PUBACK_LENGTH;
      at = bytes.writeUInt16BE(packetId, at);
    }
    this.#stream.write(bytes);
    this.#onWritten(packetIds.length);
  }
}
