import type { Logger } from "@bridge/ports";
import { asError } from "../as-error.ts";

/** A part of an adapter that may count. */
interface Counting {
  counters?(): Readonly<Record<string, number>>;
}

/** Those that were told of; a part tells in each scrape. */
const told = new WeakSet<Counting>();

/** The counters of a part. One whose counters cannot be read has none, and takes nobody else's away; that is logged once. */
export function countersOf(part: Counting, name: string, logger: Logger): Readonly<Record<string, number>> {
  try {
    const counters = Object.entries(part.counters?.() ?? {});
    return Object.fromEntries(counters.filter(([, value]) => typeof value === "number"));
  } catch (thrown) {
    const error = asError(thrown);
    if (!told.has(part))
      logger.error("counters cannot be read", { part: name, error: error.message, stack: error.stack });
    told.add(part);
    return {};
  }
}
