import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Clock } from "@bridge/ports";

/** The header has whole seconds, and an answer is on its way for some time: clocks that differ by less are the same. */
const SAME_MS = 2_000;
const HALF_SECOND_MS = 500;

/** How far the clock of the service is ahead of this process's, as its last answer tells. */
export class ServiceTime {
  readonly #clock: Pick<Clock, "now">;
  #aheadMs = 0;

  constructor(sdk: DynamoDBClient, clock: Pick<Clock, "now">) {
    this.#clock = clock;
    sdk.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        this.#answered(result.response);
        return result;
      },
      { step: "deserialize", priority: "low", name: "bridgeServiceTime" },
    );
  }

  /** Milliseconds; 0 until an answer has told. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  #answered(response: unknown): void {
    const { headers } = response as { readonly headers?: Readonly<Record<string, string | undefined>> };
    const told = Date.parse(headers?.["date"] ?? "");
    if (Number.isNaN(told)) return;
    const aheadMs = told + HALF_SECOND_MS - this.#clock.now();
    this.#aheadMs = Math.abs(aheadMs) < SAME_MS ? 0 : aheadMs;
  }
}
