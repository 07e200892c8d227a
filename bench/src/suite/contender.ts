import type { Piece } from "./million-suite.ts";

/** Who is measured: `script`, a program of some dozen lines that somebody would write by hand, is the yardstick. */
export const CONTENDERS = ["script", "bridge"] as const;
export type Contender = (typeof CONTENDERS)[number];

/** What a user of the command may choose. */
export interface Settings {
  readonly rounds: number;
  /** In each flood; absent: as many as a row needs. */
  readonly messages: number | undefined;
  readonly sizes: readonly number[];
  readonly windows: readonly number[];
  /** Of the million. */
  readonly pieces: readonly Piece[];
  readonly profileDir: string | undefined;
}
