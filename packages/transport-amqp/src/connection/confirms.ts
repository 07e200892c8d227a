import { SequenceMap } from "@bridge/ports/internal";
import { Malformed } from "../codec/byte-reader.ts";

/** Told whether the broker has the message. */
export type Confirmed = (isTaken: boolean) => void;

/** What was published on one channel and is not confirmed. */
export class Confirms {
  readonly #waiting = new SequenceMap<Confirmed>();
  #published = 0;
  /** Everything below is confirmed. */
  #oldest = 1;

  add(confirmed: Confirmed): void {
    this.#waiting.set(++this.#published, confirmed);
  }

  /** @throws Malformed for a message that was never published */
  confirm(tag: number, upTo: boolean, isTaken: boolean): void {
    if (tag > this.#published) throw new Malformed(`a confirm of message ${tag} of ${this.#published}`);
    if (upTo) for (let older = this.#oldest; older < tag; older++) this.#waiting.take(older)?.(isTaken);
    this.#waiting.take(tag)?.(isTaken);
    while (this.#oldest <= this.#published && !this.#waiting.has(this.#oldest)) this.#oldest++;
  }
}
