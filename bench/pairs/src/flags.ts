import { parseArgs } from "node:util";
import { integerFrom, oneOf } from "../../src/harness/flag-values.ts";
import { LEAST_BYTES } from "../../src/load/ledger.ts";
import { PAIRS } from "./pair.ts";
import { MODES, PEERS } from "./run/contender.ts";
import { MESSAGES, WARM_UP } from "./run/measure-rows.ts";
import type { Selection } from "./run/rows.ts";

export const USAGE = `pnpm bench:pairs [options]
  by default 256 bytes at a window of 100, a quarter of an hour; with --all 256 and 4,096 bytes at windows of 1, 100 and 500, with
  the outbox and a slow link for every pair, some hours
  --pairs LIST      of ${PAIRS.join(", ")}; default: all
  --sizes LIST      bytes of a message
  --windows LIST    messages held at once
  --modes LIST      of ${MODES.join(", ")}; default: the first two where they are measured
  --peers LIST      of ${PEERS.join(", ")}, or none; default: all; Node-RED is installed when it is not there (116 MB)
  --delay WHICH     all or none: rows with 20 ms of round trip to the source; default: MQTT to MQTT
  --rounds N        how often all contenders of a row are started and measured; default 3
  --messages N      through each contender in a round with a window of 100 or more, a tenth of it below; default ${MESSAGES}
  --warm-up N       before them, likewise, and as often as three seconds take; default ${WARM_UP}
  --seconds N       at 1,000 messages a second, for the latency; 0 measures none; default 2
  --all             everything, as far as nothing else is said
  --out FILE        where the figures go as JSON, after each row; default results/pairs-latest.json
  --resume          goes on where the file ends: rows that are in it are not measured again
  --tables FILE     measures nothing, prints the tables of a file of figures
  --profile DIR     write a CPU profile of each measured process
  --help`;

export interface Flags {
  readonly selection: Selection;
  readonly rounds: number;
  readonly messages: number;
  readonly warmUp: number;
  readonly pacedSeconds: number;
  readonly out: string;
  readonly resume: boolean;
  readonly tables: string | undefined;
  readonly profileDir: string | undefined;
  readonly help: boolean;
}

/** @throws Error that says what is wrong with a flag */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pairs: { type: "string" },
      sizes: { type: "string" },
      windows: { type: "string" },
      modes: { type: "string" },
      peers: { type: "string", default: PEERS.join(",") },
      delay: { type: "string" },
      rounds: { type: "string", default: "3" },
      messages: { type: "string", default: String(MESSAGES) },
      "warm-up": { type: "string", default: String(WARM_UP) },
      seconds: { type: "string", default: "2" },
      all: { type: "boolean", default: false },
      out: { type: "string", default: new URL("../../results/pairs-latest.json", import.meta.url).pathname },
      resume: { type: "boolean", default: false },
      tables: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    selection: {
      pairs: values.pairs?.split(",").map((name) => oneOf("pairs", name, PAIRS)),
      sizes: values.sizes?.split(",").map((size) => integerFrom(LEAST_BYTES, "sizes", size)),
      windows: values.windows?.split(",").map((window) => integerFrom(1, "windows", window)),
      modes: values.modes?.split(",").map((mode) => oneOf("modes", mode, MODES)),
      peers: values.peers === "none" ? [] : values.peers.split(",").map((peer) => oneOf("peers", peer, PEERS)),
      delay: values.delay === undefined ? undefined : oneOf("delay", values.delay, ["all", "none"] as const),
      all: values.all,
    },
    rounds: integerFrom(1, "rounds", values.rounds),
    messages: integerFrom(10, "messages", values.messages),
    warmUp: integerFrom(1, "warm-up", values["warm-up"]),
    pacedSeconds: integerFrom(0, "seconds", values.seconds),
    out: values.out,
    resume: values.resume,
    tables: values.tables,
    profileDir: values.profile,
    help: values.help,
  };
}
