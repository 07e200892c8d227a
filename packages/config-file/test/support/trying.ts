import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type BridgeConfig,
  type ConfigApplier,
  type ConfigTransactions,
  createConfigTransactions,
  type LeftBehind,
  type ReferenceSources,
  type Reverted,
  type SettledProbation,
} from "@bridge/config";
import { type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { type ConfigFile, openConfigFile } from "../../src/index.ts";
import { registry, sources as noSources } from "./file-stores.ts";

const NEVER = new AbortController().signal;
const NOTHING = { added: [], removed: [], restarted: [], kept: [] };
const PLAN = { unchanged: false, routes: NOTHING, sessions: NOTHING, stores: [], inPlace: [], restartRequired: [] };

export interface Trying extends AsyncDisposable {
  readonly path: string;
  readonly store: ConfigFile;
  readonly clock: ManualClock;
  readonly transactions: ConfigTransactions;
  readonly applied: readonly BridgeConfig[];
  /** How long it takes to apply something. */
  readonly swap: { ms: number };
  /** What the next attempts to apply something end with. */
  readonly refusals: Error[];
  readonly reverted: readonly Reverted[];
  readonly logged: readonly string[];
  /** Commits `overlay` on probation for 10 s; resolves to its version. */
  tryOut(overlay: Readonly<Record<string, unknown>>): Promise<number>;
}

/** What a start has found on the file of {@link trying}. */
interface Started {
  readonly store: ConfigFile;
  readonly settled: SettledProbation | undefined;
  readonly leftBehind?: readonly LeftBehind[];
  /** What references name. Default: nothing. */
  readonly sources?: ReferenceSources;
}

/** A file in `folder`, new unless a process has `started` on it, and changes of it that are tried out on time that stands still. */
export function trying(folder: string, started?: Started, clock = new ManualClock()): Trying {
  const path = join(folder, "bridge.yaml");
  if (started === undefined) writeFileSync(path, "# ours\nbridge: {id: plant-7, drain_timeout: 20s} # here\n");
  const begun: Started = started ?? { store: openConfigFile(path), settled: undefined };
  const { store, settled, leftBehind, sources = noSources } = begun;
  const applied: BridgeConfig[] = [];
  const swap = { ms: 0 };
  const refusals: Error[] = [];
  const reverted: Reverted[] = [];
  const logged: string[] = [];
  const log = (message: string, fields?: object): void =>
    void logged.push(fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { ...silentLogger, error: log, warn: log };
  const applier: ConfigApplier = {
    async apply(config) {
      clock.advance(swap.ms);
      const fault = refusals.shift();
      if (fault !== undefined) throw fault;
      applied.push(config);
      return "applied";
    },
    stranding: () => Promise.resolve(undefined),
    beyondRecovery: () => false,
    plan: () => Promise.resolve(PLAN),
    trial: { running: () => true, reaches: () => true, sends: () => ({ sends: 0, failed: 0 }) },
  };
  const transactions = createConfigTransactions({
    store,
    registry,
    sources,
    applier,
    settled,
    leftBehind,
    clock,
    random: systemRandom(),
    logger,
    onReverted: (one) => void reverted.push(one),
  });
  return {
    path,
    store,
    clock,
    transactions,
    applied,
    swap,
    refusals,
    reverted,
    logged,
    async tryOut(overlay) {
      const { id } = await transactions.open(60_000, NEVER);
      await transactions.patch(id, overlay, NEVER);
      const committed = await transactions.commit(id, "alice", { withinMs: 10_000 });
      if (committed.status !== "probation") throw new Error(JSON.stringify(committed));
      return committed.version;
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
