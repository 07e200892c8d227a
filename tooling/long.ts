/**
 * For tests that `npm test` does in part, since the whole takes minutes: `pnpm test:long` runs each test file that imports this,
 * with all of it. @module
 */
import { env } from "node:process";

/** Whether there are minutes. */
export const LONG: boolean = env["BRIDGE_TEST_LONG"] === "1";

/** How often something is tried. */
export function times(usual: number, long: number): number {
  return LONG ? long : usual;
}

/** The rows of a table that stand for the others while there are no minutes. */
export function rows<Row>(all: readonly Row[], stands: (row: Row, index: number) => boolean): readonly Row[] {
  return LONG ? all : all.filter(stands);
}
