import { messageTooLarge, strangerError } from "@bridge/ports/internal";
import { BridgeError } from "@bridge/ports";

/** What one line of a server may have, at most: INFO names all servers of a cluster. */
const MAX_LINE_BYTES = 65_536;

const LF = 0x0a;
const CR = 0x0d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_CASE_BIT = 0x20;
const NOTHING = Buffer.alloc(0);
const [MSG, HMSG] = [0x6d, 0x68];
/** `info`, `ping`, `pong`, `+ok`, `-err` */
const OTHERS: ReadonlySet<number> = new Set([0x69, 0x70, 0x2b, 0x2d]);

/**
 * Follows what a server says, as far as to know how long each message is as soon as that is said. The client library keeps
 * whatever is announced.
 */
export class ServerLines {
  readonly #label: string;
  readonly #limit: number;
  /** The beginning of a line whose end has not come. */
  #begun: Buffer = NOTHING;
  /** Bytes of the message that come before the next line. */
  #payload = 0;
  /** Whether the end of a line has to come next, as behind a message. */
  #ending = false;

  constructor(label: string, limit: number) {
    this.#label = label;
    this.#limit = limit;
  }

  /** @throws BridgeError when more is announced than may be, or this is not NATS */
  look(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#payload > 0) {
        const step = Math.min(this.#payload, bytes.length - at);
        this.#payload -= step;
        at += step;
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const part = bytes.subarray(at, end < 0 ? bytes.length : end);
      if (this.#begun.length + part.length > MAX_LINE_BYTES)
        throw this.#broken(`a line of more than ${MAX_LINE_BYTES} bytes`);
      const line = this.#begun.length === 0 ? part : Buffer.concat([this.#begun, part]);
      if (end < 0) {
        this.#begun = line === part ? Buffer.from(part) : line;
        return;
      }
      this.#begun = NOTHING;
      this.#read(line);
      at = end + 1;
    }
  }

  #read(line: Buffer): void {
    const length = line.at(-1) === CR ? line.length - 1 : line.length;
    if (this.#ending) {
      if (length > 0) throw this.#broken("a message longer than announced");
      this.#ending = false;
      return;
    }
    const first = (line[0] ?? 0) | LOWER_CASE_BIT;
    if (first === MSG || first === HMSG) {
      const size = numberBefore(line, length);
      if (size === undefined) throw this.#broken("a message without a length");
      if (size > this.#limit) throw messageTooLarge(this.#label, size, this.#limit);
      this.#payload = size;
      this.#ending = true;
    } else if (!OTHERS.has(first)) throw this.#broken("a line that is not of its protocol");
  }

  #broken(what: string): BridgeError {
    return new BridgeError("CONNECTION_LOST", `${this.#label}: the server has sent ${what}`);
  }
}

/** Looks whether it is a NATS server that begins to speak, and does not do so without an end. */
export class FirstLine {
  readonly #label: string;
  #said: Buffer = NOTHING;
  #over = false;

  constructor(label: string) {
    this.#label = label;
  }

  /** Whether nothing has been said at all. */
  get silent(): boolean {
    return this.#said.length === 0;
  }

  /** @throws BridgeError when it is none */
  look(bytes: Buffer): void {
    if (this.#over) return;
    this.#said = Buffer.concat([this.#said, bytes.subarray(0, MAX_LINE_BYTES)]);
    const begins = "INFO {";
    const said = this.#said.subarray(0, begins.length).toString("latin1");
    if (!begins.startsWith(said.toUpperCase())) throw strangerError(this.#label, "NATS", this.#said);
    this.#over = this.#said.includes(LF);
    if (!this.#over && this.#said.length > MAX_LINE_BYTES)
      throw new BridgeError(
        "CONNECTION_LOST",
        `${this.#label}: the server has sent a line of more than ${MAX_LINE_BYTES} bytes`,
      );
  }
}

/** The number whose last digit is right before `end`; `undefined` when there is none, or it is beyond all bounds. */
function numberBefore(line: Buffer, end: number): number | undefined {
  let value = 0;
  let unit = 1;
  let at = end - 1;
  for (; at >= 0; at--, unit *= 10) {
    const digit = line[at] as number;
    if (digit < ZERO || digit > NINE) break;
    value += (digit - ZERO) * unit;
  }
  return at === end - 1 || !Number.isFinite(value) ? undefined : value;
}
