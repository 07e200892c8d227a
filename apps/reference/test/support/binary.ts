import { fileURLToPath } from "node:url";
import { BinaryProcess, type RunOptions as ProcessOptions } from "@bridge/tooling/binary-process";

/** What was built before the tests. */
export const BINARY = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface RunOptions extends ProcessOptions {
  /** Default: what was built. */
  readonly file?: string | undefined;
}

/** A process of the reference binary; disposing it leaves none behind. */
export class Binary extends BinaryProcess {
  constructor(args: readonly string[], { file = BINARY, ...options }: RunOptions) {
    super(file, args, options);
  }
}
