import { parseArgs } from "node:util";
import { systemRandom } from "@bridge/ports";

export const USAGE = `usage: pnpm simulate [--seeds N] [--from N|random] [--for 60s] [--corpus] [--first] [--save FOLDER]
       pnpm simulate --scenario FILE
`;
const DEFAULT_SEEDS = 100;

/** The options of a command line. */
export interface Asked {
  readonly seeds: number;
  readonly from: number;
  readonly forMs: number;
  /** Whether to run the seeds of the corpus first, in addition to `seeds`. */
  readonly corpus: boolean;
  /** Whether to stop after the first seed with a violation. */
  readonly first: boolean;
  /** The folder to save scenarios of violations in. */
  readonly save: string | undefined;
  /** The file of a single plan to run. */
  readonly scenario: string | undefined;
}

/** `undefined` if the arguments are not valid. */
export function asked(args: readonly string[]): Asked | undefined {
  const values = valuesOf(args);
  if (values === undefined) return undefined;
  const { scenario, save, corpus, first } = values;
  if (scenario !== undefined && Object.keys(values).length > 1) return undefined;
  const span = /^(\d+)s$/.exec(values.for ?? "0s")?.[1];
  const seeds = Number(values.seeds ?? (values.for === undefined ? DEFAULT_SEEDS : Infinity));
  const from = values.from === "random" ? 1 + Math.floor(systemRandom().next() * 2 ** 31) : Number(values.from ?? 1);
  if (span === undefined || !(seeds >= 1) || !Number.isSafeInteger(from) || from < 0) return undefined;
  const forMs = values.for === undefined ? Infinity : Number(span) * 1_000;
  return { seeds, from, forMs, corpus: corpus === true, first: first === true, save, scenario };
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string" },
        from: { type: "string" },
        for: { type: "string" },
        corpus: { type: "boolean" },
        first: { type: "boolean" },
        save: { type: "string" },
        scenario: { type: "string" },
      },
    }).values;
  } catch {
    return undefined;
  }
}
