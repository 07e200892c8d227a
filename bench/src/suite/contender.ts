/**
 * Who is measured. The yardsticks are `script`, a program of some dozen lines that somebody would write by hand, and
 * `direct_hold`, the bridge without an outbox.
 */
export const YARDSTICKS = ["script", "direct_hold"] as const;
export type Contender = (typeof YARDSTICKS)[number] | "bridge";

/** Those of most rows. */
export const CONTENDERS = ["script", "bridge"] as const satisfies readonly Contender[];

/** What a user of the command may choose. */
export interface Settings {
  readonly rounds: number;
  /** In each flood; absent: as many as a row needs. */
  readonly messages: number | undefined;
  readonly sizes: readonly number[];
  readonly windows: readonly number[];
  readonly profileDir: string | undefined;
}
