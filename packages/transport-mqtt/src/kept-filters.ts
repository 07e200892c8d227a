import { clientIdOf, type LinkContext } from "./link-options.ts";
import type { SessionOptions } from "./options.ts";

/** Clients whose filters are remembered; the least recently opened goes first. */
const REMEMBERED_CLIENTS = 256;

/** By broker and client. */
const kept = new Map<string, Set<string>>();

/**
 * The filters that a broker keeps for a client, as far as this process has made them. They outlast the session: another
 * configuration is another one, with the same name at the broker.
 */
export function keptFilters(options: SessionOptions, context: LinkContext): Set<string> {
  const key = keyOf(options, context);
  const filters = kept.get(key) ?? new Set();
  kept.delete(key);
  kept.set(key, filters);
  const [oldest] = kept.keys();
  if (kept.size > REMEMBERED_CLIENTS && oldest !== undefined) kept.delete(oldest);
  return filters;
}

export function forgetFilters(options: SessionOptions, context: LinkContext): void {
  kept.delete(keyOf(options, context));
}

function keyOf(options: SessionOptions, context: LinkContext): string {
  return [clientIdOf(options, context), ...options.broker_urls].join("\n");
}
