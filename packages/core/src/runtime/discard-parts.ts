import { discard } from "./discard.ts";
import type { RuntimeParts } from "./runtime-parts.ts";

/** Ends parts that were built and that no runtime has taken: they have opened nothing, but others may count on them. */
export function discardParts({ links, intakes, senders, processors }: RuntimeParts): void {
  for (const { session } of links.values()) discard(session);
  for (const { receiver } of intakes.values()) discard(receiver);
  for (const sender of senders.values()) discard(sender);
  for (const { processor } of processors.values()) discard(processor);
}
