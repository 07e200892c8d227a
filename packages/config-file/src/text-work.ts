import type { Path } from "@bridge/config";
import { type Clock, type Logger } from "@bridge/ports";
import { jsonInSlices, Slices } from "@bridge/ports/internal";
import { type PackedValue, unpack } from "./packed-value.ts";
import type { SyntaxProblem } from "./parse-document.ts";
import type { TextThread } from "./text-thread.ts";
import type { Answer, Positions, Task } from "./thread-protocol.ts";

/** What a text says, or why it says nothing. */
export type ReadDocument = { readonly value: unknown } | { readonly problems: readonly SyntaxProblem[] };

/** Reads and edits the text of a file in a thread; what goes there and comes back is put together in slices. */
export class TextWork implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #thread: TextThread;

  constructor(clock: Clock, logger: Logger, thread: TextThread) {
    this.#clock = clock;
    this.#logger = logger;
    this.#thread = thread;
  }

  /** @throws ThreadError; the signal's reason; Error with words for an operator when the bytes are no text */
  async read(bytes: Uint8Array, signal: AbortSignal): Promise<ReadDocument> {
    const answer = await this.#do({ kind: "read", bytes: new Uint8Array(bytes) }, ["value", "problems"], signal);
    return answer.kind === "problems" ? answer : { value: await this.#unpacked(answer, signal) };
  }

  /**
   * The text that says `document`, as bytes, and what it says, as {@link editDocument} makes it; no comment holds any
   * of `hidden`.
   */
  async edit(
    bytes: Uint8Array,
    document: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    hidden: readonly string[] = [],
  ): Promise<{ readonly bytes: Uint8Array; readonly value: unknown }> {
    const json = await jsonInSlices(document, new Slices(this.#clock));
    const task: Task = { kind: "edit", bytes: new Uint8Array(bytes), document: json, hidden };
    const edited = await this.#do(task, ["edited"], signal);
    return { bytes: edited.bytes, value: await this.#unpacked(edited, signal) };
  }

  /** Where each path is written; none is known when the thread fails. Rejects only with the signal's reason. */
  async locate(bytes: Uint8Array, paths: readonly Path[], signal: AbortSignal): Promise<Positions> {
    try {
      return (await this.#do({ kind: "locate", bytes: new Uint8Array(bytes), paths }, ["located"], signal)).positions;
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.warn("lines of problems not known", { error: error instanceof Error ? error.message : "" });
      return [];
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }

  async #do<Kind extends Answer["kind"]>(
    task: Task,
    kinds: readonly Kind[],
    signal: AbortSignal,
  ): Promise<Answer & { readonly kind: Kind }> {
    const answer = await this.#thread.do(task, signal);
    if (answer.kind === "error") throw new Error(answer.message);
    if (!isOneOf(answer, kinds)) throw new TypeError(`the thread answers ${answer.kind} to ${task.kind}`);
    return answer;
  }

  #unpacked({ value }: { readonly value: PackedValue }, signal: AbortSignal): Promise<unknown> {
    return new Slices(this.#clock).run(unpack(value), signal);
  }
}

function isOneOf<Kind extends Answer["kind"]>(
  answer: Answer,
  kinds: readonly Kind[],
): answer is Answer & { readonly kind: Kind } {
  return (kinds as readonly string[]).includes(answer.kind);
}
