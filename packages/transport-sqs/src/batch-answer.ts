import type { BatchResultErrorEntry } from "@aws-sdk/client-sqs";

/** As far as all answers to batches are alike. */
export interface BatchAnswer {
  readonly Successful?: readonly { readonly Id: string | undefined }[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

/** Of a batch in which nothing failed. */
const NONE: readonly undefined[] = [];

/**
 * What an answer says of each of `count` entries, whose ids are their places: nothing when it was carried out. One that it
 * does not mention may not have been.
 */
export function failuresIn(answer: BatchAnswer, count: number): readonly (BatchResultErrorEntry | undefined)[] {
  const successful = entriesOf(answer.Successful);
  if (successful.length === count && successful.every(({ Id }, index) => Id === String(index))) return NONE;
  const failed = new Map(entriesOf(answer.Failed).map((failure) => [failure.Id, failure]));
  const done = new Set(successful.map(({ Id }) => Id));
  return Array.from({ length: count }, (_, index) => {
    const Id = String(index);
    if (done.has(Id)) return undefined;
    return failed.get(Id) ?? { Id, Code: "ServiceUnavailable", SenderFault: false };
  });
}

/** Those that are entries: the library takes what it is given. */
function entriesOf<Entry extends { readonly Id: string | undefined }>(
  entries: readonly Entry[] | undefined,
): readonly Entry[] {
  if (!Array.isArray(entries)) return [];
  return entries.filter((entry: Entry | null) => typeof entry?.Id === "string");
}
