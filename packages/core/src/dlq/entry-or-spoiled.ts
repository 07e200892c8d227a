import type { DeadLetter } from "@bridge/ports";
import { isSpoiled, type SpoiledDeadLetter } from "@bridge/ports/internal";

/** What a store has under an id. That an entry is not as it was written says nothing of the store, nor of other entries. */
export async function entryOrSpoiled(
  reading: Promise<DeadLetter | undefined>,
): Promise<DeadLetter | SpoiledDeadLetter | undefined> {
  try {
    return await reading;
  } catch (thrown) {
    if (isSpoiled(thrown)) return thrown;
    throw thrown;
  }
}
