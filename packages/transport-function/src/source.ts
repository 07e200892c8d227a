import { FUNCTIONS } from "./function-maker.ts";
import { kindOf } from "@bridge/ports/internal";
import { type BeginSource, Source } from "./source-definition.ts";
import type { SourceItem } from "./yielded.ts";

/**
 * A source of what an async iterable yields. It is asked for a message when the route has room for one, so at most
 * `max_in_flight` are under way.
 *
 * A function is called again after a stop, and after its iterable has failed; an iterable that can be iterated only once, such as
 * a generator, is over then.
 *
 * @example
 * source(async function* ({ signal }) {
 *   for await (const tick of setInterval(1_000, undefined, { signal })) yield { payload: { at: Date.now() } };
 * });
 * @throws TypeError when it is neither
 */
export function source(from: AsyncIterable<SourceItem> | BeginSource): Source {
  if (typeof from === "function") return new Source(FUNCTIONS, from);
  if (isAsyncIterable(from)) return new Source(FUNCTIONS, () => from);
  throw new TypeError(`source takes an async iterable, or a function that returns one, not ${kindOf(from)}`);
}

function isAsyncIterable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return typeof (value as { readonly [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function";
}
