import type { FaultyLink, TransportPlace } from "@bridge/conformance";
import { BridgeError, type SourceMessage } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { type FunctionMessage, type Handler, handler, source, type SourceItem } from "../../src/index.ts";

const LOST = new BridgeError("CONNECTION_LOST", "cut by the suite");

/** What a handler of a program has behind it: it may be frozen, cut off and away. */
class Work implements FaultyLink {
  readonly arrived: SourceMessage[] = [];
  #frozen: PromiseWithResolvers<void> | undefined;
  #refused = false;
  #more = Promise.withResolvers<void>();

  async take(messages: readonly FunctionMessage[], signal: AbortSignal): Promise<void> {
    if (this.#refused) throw LOST;
    if (this.#frozen !== undefined) await orAborted(this.#frozen.promise, signal);
    this.arrived.push(...messages.map(messageOf));
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  async collect(count: number, signal: AbortSignal): Promise<readonly SourceMessage[]> {
    while (this.arrived.length < count) await orAborted(this.#more.promise, signal);
    return [...this.arrived];
  }

  cut(): void {
    this.#frozen?.reject(LOST);
    this.#frozen = undefined;
  }

  refuse(): void {
    this.#refused = true;
  }

  freeze(): void {
    this.#frozen = Promise.withResolvers();
    this.#frozen.promise.catch(() => {});
  }

  restore(): void {
    this.#refused = false;
    this.#frozen?.resolve();
    this.#frozen = undefined;
  }
}

/** What an iterable of a program has behind it. */
class Line {
  readonly #items: SourceItem[] = [];
  #wake = Promise.withResolvers<void>();

  put(item: SourceItem): void {
    this.#items.push(item);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  cut(): void {
    this.#wake.reject(LOST);
    this.#wake.promise.catch(() => {});
    this.#wake = Promise.withResolvers();
  }

  async *items(signal: AbortSignal): AsyncGenerator<SourceItem> {
    for (;;) {
      const item = this.#items.shift();
      if (item === undefined) await orAborted(this.#wake.promise, signal);
      else yield item;
    }
  }
}

/** Places for cases, each with a handler and a source of its own, which have to be registered beforehand. */
export class Places {
  readonly works: readonly Work[];
  readonly lines: readonly Line[];
  #used = 0;

  constructor(count: number) {
    this.works = Array.from({ length: count }, () => new Work());
    this.lines = Array.from({ length: count }, () => new Line());
  }

  get sources() {
    return Object.fromEntries(
      this.lines.map((line, index) => [`place-${index}`, source(({ signal }) => line.items(signal))]),
    );
  }

  get handlers(): Readonly<Record<string, Handler>> {
    return Object.fromEntries(
      this.works.map((work, index) => [
        `place-${index}`,
        handler((message, { signal }) => work.take([message], signal)),
      ]),
    );
  }

  get batchHandlers(): Readonly<Record<string, Handler>> {
    return Object.fromEntries(
      this.works.map((work, index) => [
        `place-${index}`,
        handler.batch((messages, { signal }) => work.take(messages, signal), { size: 8, within: "2ms" }),
      ]),
    );
  }

  open(): TransportPlace {
    const index = this.#used++;
    const [line, work] = [this.lines[index], this.works[index]];
    if (line === undefined || work === undefined) throw new Error("there are more cases than places");
    const nothing = (): void => {};
    return {
      source: {
        receiver: { options: { source: `place-${index}` } },
        publish: async (message) => line.put(itemOf(message)),
        link: { cut: () => line.cut(), refuse: nothing, freeze: nothing, restore: nothing },
      },
      target: {
        sender: { options: { handler: `place-${index}` } },
        address: "",
        collect: (count, signal) => work.collect(count, signal),
        link: work,
      },
      async [Symbol.asyncDispose]() {},
    };
  }
}

function itemOf({ orderingKey, ...message }: SourceMessage): SourceItem {
  return { ...message, key: orderingKey };
}

function messageOf(message: FunctionMessage): SourceMessage {
  const { id, subject, payload, headers, contentType, correlationId, dedupId, key, expiresAt } = message;
  return { id, subject, payload, headers, contentType, correlationId, dedupId, orderingKey: key, expiresAt };
}
