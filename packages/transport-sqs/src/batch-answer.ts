import type { BatchResultErrorEntry } from "@aws-sdk/client-sqs";

/** An entry of an answer to a batch, as far as they are all alike. */
interface Done {
  readonly Id: string | undefined;
}

/** As far as all answers to batches are alike. */
export interface BatchAnswer<Entry extends Done = Done> {
  readonly Successful?: readonly Entry[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

/** Of a batch in which nothing failed. */
const NONE: readonly undefined[] = [];

/**
 * What an answer says of each of `count` entries, whose ids are their places: nothing when it was carried out. One that it
 * does not mention, that it says both of, or that has no receipt may not have been.
 */
export function failuresIn<Entry extends Done>(
  answer: BatchAnswer<Entry>,
  count: number,
  hasReceipt: (entry: Entry) => boolean = () => true,
): readonly (BatchResultErrorEntry | undefined)[] {
  const successful = entriesOf(answer.Successful);
  const failures = entriesOf(answer.Failed);
  const done = new Set(successful.filter(hasReceipt).map(({ Id }) => Id));
  if (failures.length === 0 && done.size === count && successful.every(({ Id }, index) => Id === String(index))) {
    return NONE;
  }
  const named = new Set(successful.map(({ Id }) => Id));
  const failed = new Map(failures.map((failure) => [failure.Id, failure]));
  return Array.from({ length: count }, (_, index) => {
    const Id = String(index);
    const failure = failed.get(Id);
    if (failure === undefined && done.has(Id)) return undefined;
    if (failure !== undefined && !named.has(Id)) return failure;
    return { Id, Code: "ServiceUnavailable", SenderFault: false };
  });
}

/** Those that are entries: the library takes what it is given. */
function entriesOf<Entry extends Done>(entries: readonly Entry[] | undefined): readonly Entry[] {
  if (!Array.isArray(entries)) return [];
  return entries.filter((entry: Entry | null) => typeof entry?.Id === "string");
}
