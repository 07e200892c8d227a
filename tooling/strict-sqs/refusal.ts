/** Errors that are called otherwise in SQS's older protocol; clients of the newer one are told that name too. */
const OLDER: Readonly<Record<string, string>> = {
  QueueDoesNotExist: "AWS.SimpleQueueService.NonExistentQueue",
  ...Object.fromEntries(
    [
      "BatchEntryIdsNotDistinct",
      "BatchRequestTooLong",
      "EmptyBatchRequest",
      "InvalidBatchEntryId",
      "MessageNotInflight",
      "TooManyEntriesInBatchRequest",
    ].map((code) => [code, `AWS.SimpleQueueService.${code}`]),
  ),
};

/** An error as SQS answers it. */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }

  get olderCode(): string {
    return OLDER[this.code] ?? this.code;
  }
}

export function invalidParameter(message: string): Refusal {
  return new Refusal("InvalidParameterValue", message);
}
