import { parseArgs } from "node:util";
import type { Settings } from "./suite/contender.ts";
import { type SuiteName, SUITES } from "./suite/suites.ts";

export const USAGE = `pnpm bench [options]
  --only NAMES      of ${Object.keys(SUITES).join(", ")}; default: all
  --rounds N        how often each contender has its turn; default 5
  --messages N      in each measurement; default: as many as a row needs
  --sizes LIST      bytes of a message; default 256,4096
  --windows LIST    messages held at once; default 100,500
  --profile DIR     write a CPU profile of each measured process
  --out FILE        where the figures go as JSON; default results/latest.json
  --help`;

export interface Flags extends Settings {
  readonly only: readonly SuiteName[];
  readonly out: string;
  readonly help: boolean;
}

/** @throws Error that says what is wrong with a flag */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: Object.keys(SUITES).join(",") },
      rounds: { type: "string", default: "5" },
      messages: { type: "string" },
      sizes: { type: "string", default: "256,4096" },
      windows: { type: "string", default: "100,500" },
      profile: { type: "string" },
      out: { type: "string", default: new URL("../results/latest.json", import.meta.url).pathname },
      help: { type: "boolean", default: false },
    },
  });
  return {
    only: values.only.split(",").map(suiteName),
    rounds: count("rounds", values.rounds),
    messages: values.messages === undefined ? undefined : count("messages", values.messages),
    sizes: values.sizes.split(",").map((size) => count("sizes", size)),
    windows: values.windows.split(",").map((window) => count("windows", window)),
    profileDir: values.profile,
    out: values.out,
    help: values.help,
  };
}

function suiteName(name: string): SuiteName {
  if (Object.hasOwn(SUITES, name)) return name as SuiteName;
  throw new Error(`--only: "${name}" is none of ${Object.keys(SUITES).join(", ")}`);
}

function count(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${flag}: "${text}" is not a positive integer`);
}
