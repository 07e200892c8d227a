import { BridgeError, type DeadLetter, type DeadLetterHead } from "@bridge/ports";
import { isStillListed } from "@bridge/ports/internal";
import type { BridgeAccess } from "./bridge-access.ts";
import { entryLine, unreadableLine } from "./entry-line.ts";
import type { ShownMessage } from "./redaction.ts";

/** Entries that are read at once, of so many bytes of payload at most, unless one alone has more. */
const [AT_ONCE, AT_ONCE_BYTES] = [16, 1024 * 1024];
const LOST = "the store lists this entry and does not find it by its id";

/** Reads the entries that pages have shown, each of which is a line, unless it is gone by then. */
export class ExportedEntries {
  readonly #bridge: BridgeAccess;
  readonly #show: (entry: DeadLetter) => ShownMessage;
  #unreadable = 0;

  constructor(bridge: BridgeAccess, show: (entry: DeadLetter) => ShownMessage) {
    this.#bridge = bridge;
    this.#show = show;
  }

  /** Of the lines that have no entry. */
  get warning(): string | undefined {
    const count = this.#unreadable;
    return count === 0 ? undefined : `${count} could not be read: their lines say why, and cannot be imported`;
  }

  async *linesOf(heads: readonly DeadLetterHead[]): AsyncGenerator<Iterable<object>, void, undefined> {
    for (const some of atOnce(heads)) yield oneByOne(await Promise.all(some.map((head) => this.#lineOf(head))));
  }

  async #lineOf(head: DeadLetterHead): Promise<() => object | undefined> {
    try {
      const found = await this.#get(head);
      if (found !== undefined) return () => entryLine(found, this.#show(found));
      const isListed = await this.#bridge.looking("DLQ", (signal) =>
        isStillListed(this.#bridge.dlqPages, head, signal),
      );
      if (!isListed) return () => undefined;
      // Meanwhile the same message may have failed again.
      const again = await this.#get(head);
      return again === undefined ? this.#unreadableLine(head, LOST) : () => entryLine(again, this.#show(again));
    } catch (error) {
      if (BridgeError.is(error) && error.code === "INTERNAL") return this.#unreadableLine(head, error.message);
      throw error;
    }
  }

  #get({ id }: DeadLetterHead): Promise<DeadLetter | undefined> {
    return this.#bridge.looking("DLQ", (signal) => this.#bridge.dlq.get(id, signal));
  }

  #unreadableLine(head: DeadLetterHead, why: string): () => object {
    this.#unreadable++;
    return () => unreadableLine(head, why);
  }
}

/** One at a time, for a large entry takes long to look through. */
function* oneByOne(makers: readonly (() => object | undefined)[]): Generator<object> {
  for (const make of makers) {
    const line = make();
    if (line !== undefined) yield line;
  }
}

function* atOnce(heads: readonly DeadLetterHead[]): Generator<readonly DeadLetterHead[]> {
  let some: DeadLetterHead[] = [];
  let bytes = 0;
  for (const head of heads) {
    if (some.length === AT_ONCE || (some.length > 0 && bytes + head.payloadBytes > AT_ONCE_BYTES)) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(head);
    bytes += head.payloadBytes;
  }
  if (some.length > 0) yield some;
}
