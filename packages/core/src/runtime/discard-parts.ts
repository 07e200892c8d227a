import { discard } from "./discard.ts";
import type { RuntimeParts } from "./runtime-parts.ts";

/** Ends parts that were built but that no runtime took over: they have opened nothing, but hold places in shared parts. */
export function discardParts({ links, intakes, senders, processors }: RuntimeParts): void {
  for (const { session } of links.values()) discard(session);
  for (const { receiver } of intakes.values()) discard(receiver);
  for (const sender of senders.values()) discard(sender);
  for (const { processor } of processors.values()) discard(processor);
}
