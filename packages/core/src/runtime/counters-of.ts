import type { Logger } from "@bridge/ports";
import { asError } from "../as-error.ts";

/** A part that may count things about itself. */
interface Counting {
  counters?(): Readonly<Record<string, number>>;
}

/** Parts whose failure was logged: each scrape would repeat it. */
const told = new WeakSet<Counting>();

/** Reads a part's counters. If they cannot be read it has none, which does not affect others and is logged once. */
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
