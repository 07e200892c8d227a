import type { PairName } from "../pair.ts";
import type { Contender } from "./contender.ts";

/** The work that contenders do in turn. */
export interface Row {
  readonly pair: PairName;
  /** Bytes of a message. */
  readonly size: number;
  readonly window: number;
  /** Added round trip of the link to the source, in milliseconds. */
  readonly delayMs: number;
  readonly contenders: readonly Contender[];
}

/** What tells a row from others, and what it is called. */
export function rowName({ pair, size, window, delayMs }: Omit<Row, "contenders">): string {
  return `${pair}, ${size} B, window ${window}${delayMs === 0 ? "" : `, ${delayMs} ms away`}`;
}
