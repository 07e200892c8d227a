import { isPossibleId } from "./dead-letter-item.ts";

/** Requests at once: enough to be quick, and half of the connections is left for messages. */
export const AT_ONCE = 25;

/**
 * Does something to the entries of these ids, a few at a time, and returns those of which it was true. When one fails, those
 * before it are done.
 */
export async function eachOf(
  ids: Iterable<string>,
  work: (id: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  signal.throwIfAborted();
  const done = new Set<string>();
  const left = [...new Set(ids)].filter(isPossibleId);
  for (let start = 0; start < left.length; start += AT_ONCE) {
    const results = await Promise.allSettled(
      left.slice(start, start + AT_ONCE).map(async (id) => {
        if (await work(id)) done.add(id);
      }),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
  return done;
}
