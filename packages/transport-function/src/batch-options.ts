import { parseDuration } from "@bridge/ports/options";
import { checkOptions, type HandlerOptions } from "./handler-options.ts";
import { kindOf } from "@bridge/ports/internal";

const DEFAULTS = { size: 100, within: "10ms" } as const;
const MAX_SIZE = 10_000;
const MAX_WITHIN_MS = 60_000;

/** When a batch is handed over: as soon as one of both is reached. */
export interface BatchOptions extends HandlerOptions {
  /**
   * So many messages at most, 1 to 10,000. No more come together than the routes hold at once, `max_in_flight` each.
   * Default 100.
   */
  readonly size?: number | undefined;
  /**
   * So long the first message of a batch waits for others, as a duration such as `"50ms"`, at most a minute. It counts
   * towards `send_timeout`. Default `"10ms"`.
   */
  readonly within?: string | undefined;
}

export interface BatchBounds {
  readonly size: number;
  readonly withinMs: number;
}

/** @throws TypeError naming the option that is none */
export function batchBounds(options: BatchOptions = {}): BatchBounds {
  checkOptions("handler.batch", options, ["size", "within", "rate_limit"]);
  const { size = DEFAULTS.size, within = DEFAULTS.within } = options;
  if (!Number.isInteger(size) || size < 1 || size > MAX_SIZE) {
    throw new TypeError(`size of handler.batch is ${shown(size)}: give an integer from 1 to ${MAX_SIZE}`);
  }
  const withinMs = typeof within === "string" ? parseDuration(within) : undefined;
  if (withinMs === undefined || withinMs < 1 || withinMs > MAX_WITHIN_MS) {
    throw new TypeError(
      `within of handler.batch is ${shown(within)}: give a duration from "1ms" to "1m", such as "50ms"`,
    );
  }
  return { size, withinMs };
}

function shown(value: unknown): string {
  return typeof value === "number" || typeof value === "string" ? JSON.stringify(value) : kindOf(value);
}
