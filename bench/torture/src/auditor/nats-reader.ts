const END = Buffer.from("\r\n");
/** What is followed by a message, and how many words stand between the verb and the sizes; one more is where to answer. */
const WITH_MESSAGE: Readonly<Record<string, { readonly words: number; readonly sizes: number }>> = {
  PUB: { words: 1, sizes: 1 },
  HPUB: { words: 1, sizes: 2 },
  MSG: { words: 2, sizes: 1 },
  HMSG: { words: 2, sizes: 2 },
};

/** A message, as NATS says it. */
export interface NatsMessage {
  readonly subject: string;
  /** Where an answer goes; empty without one. */
  readonly reply: string;
  readonly payload: Buffer;
}

/** A message of which not everything has come yet. */
interface Begun {
  readonly subject: string;
  readonly reply: string;
  readonly headerBytes: number;
  readonly bytes: number;
}

/** Reads the messages in one direction of a connection to a NATS server. */
export class NatsReader {
  readonly #onMessage: (message: NatsMessage) => void;
  #rest: Buffer = Buffer.alloc(0);
  #begun: Begun | undefined;

  constructor(onMessage: (message: NatsMessage) => void) {
    this.#onMessage = onMessage;
  }

  read(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#begun === undefined ? this.#readLine() : this.#readMessage(this.#begun));
  }

  #readLine(): boolean {
    const end = this.#rest.indexOf(END);
    if (end === -1) return false;
    const words = this.#rest.toString("latin1", 0, end).split(/[ \t]+/);
    this.#rest = this.#rest.subarray(end + END.length);
    const form = WITH_MESSAGE[words[0]?.toUpperCase() ?? ""];
    if (form === undefined) return true;
    const sizes = words.slice(-form.sizes).map(Number);
    this.#begun = {
      subject: words[1] ?? "",
      reply: words.length - 1 - form.sizes > form.words ? (words[form.words + 1] ?? "") : "",
      headerBytes: form.sizes === 2 ? (sizes[0] ?? 0) : 0,
      bytes: sizes.at(-1) ?? 0,
    };
    return true;
  }

  #readMessage({ subject, reply, headerBytes, bytes }: Begun): boolean {
    const size = bytes + END.length;
    if (this.#rest.length < size) return false;
    const payload = this.#rest.subarray(headerBytes, bytes);
    this.#rest = this.#rest.subarray(size);
    this.#begun = undefined;
    this.#onMessage({ subject, reply, payload });
    return true;
  }
}
