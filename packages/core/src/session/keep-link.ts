import type { Seams } from "@bridge/ports";
import type { Link } from "./link.ts";
import { keepSession } from "./session-keeper.ts";

/**
 * Keeps a link connected until `signal` aborts; that of an exclusive session only while its lease is held. `standsBy`: whether
 * what comes over it is for another instance.
 */
export async function keepLink(link: Link, seams: Seams, signal: AbortSignal, standsBy?: () => boolean): Promise<void> {
  const { lease } = link;
  if (lease === undefined) return keepSession(link, seams, signal, standsBy);
  while (!signal.aborted) {
    const term = await lease.whenHeld(signal).catch(() => undefined);
    if (term === undefined) return;
    // From the first moment on nobody takes it for connected, however long the connection takes to close.
    term.signal.addEventListener("abort", () => link.closed(), { once: true });
    await term.use(() => keepSession(link, seams, AbortSignal.any([signal, term.signal])));
  }
}
