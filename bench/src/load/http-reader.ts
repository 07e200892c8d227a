const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Cuts what comes in on one connection into requests or responses, each with a body of a known length. */
export class HttpReader {
  readonly #onMessage: (head: string, body: Buffer) => void;
  #rest: Buffer | undefined;

  constructor(onMessage: (head: string, body: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at < bytes.length) {
      const headEnd = bytes.indexOf(HEAD_END, at);
      if (headEnd === -1) break;
      const head = bytes.toString("latin1", at, headEnd);
      if (/\r\ntransfer-encoding:/i.test(head)) throw new Error("a chunked body: the benchmark reads none");
      const bodyAt = headEnd + HEAD_END.length;
      const end = bodyAt + Number(LENGTH.exec(head)?.[1] ?? 0);
      if (end > bytes.length) break;
      this.#onMessage(head, bytes.subarray(bodyAt, end));
      at = end;
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
  }
}
