import type { Sample } from "../family.ts";
import { flag, type Metric, type Reading, single } from "./metric.ts";

/** What became of changes of the configuration since the process started. */
export interface ConfigChanges {
  /** Of those that the source told of, by outcome. */
  readonly reloads: Readonly<Record<string, number>>;
  /** Epoch milliseconds: when one of them last came into force, or was accepted. */
  readonly lastReloadAt: number | undefined;
  /** Whether what the source has is not what runs, and an operator has to do something about it. */
  readonly failing: boolean;
  /** Of transactions, by outcome. */
  readonly transactions: Readonly<Record<string, number>>;
  /** Until when what runs has to be confirmed, or it is taken back; epoch milliseconds. Default: it stays. */
  readonly confirmBy?: number | undefined;
  /** The end of what another instance has left on probation; epoch milliseconds. Default: none has. */
  readonly leftConfirmBy?: number | undefined;
  /** How many were taken back, by why. Default: none was. */
  readonly reverts?: Readonly<Record<string, number>> | undefined;
}

/** The configuration and its changes. */
export const CONFIG_METRICS: readonly Metric[] = [
  {
    name: "bridge_config_version",
    type: "gauge",
    help: "Version of the configuration in force.",
    read: ({ view }) => single(view.configVersion),
  },
  {
    name: "bridge_config_restart_required",
    type: "gauge",
    help: "1 while a part of the configuration in force applies only after a restart of the process.",
    read: ({ view }) => flag(view.restartRequired.length > 0),
  },
  {
    name: "bridge_config_failing",
    type: "gauge",
    help: "1 while the configuration of the source cannot be read, is not valid or could not be applied; the former one runs.",
    read: ({ config }) => (config === undefined ? [] : flag(config.failing)),
  },
  {
    name: "bridge_config_reloads_total",
    type: "counter",
    help: "Configurations that the source told of, by what became of them.",
    read: byOutcome((config) => config.reloads),
  },
  {
    name: "bridge_config_last_reload_timestamp_seconds",
    type: "gauge",
    help: "When a configuration of the source last came into force after the start, in seconds since 1970; absent until then.",
    read: ({ config }) => (config?.lastReloadAt === undefined ? [] : single(config.lastReloadAt / 1_000)),
  },
  {
    name: "bridge_config_transactions_total",
    type: "counter",
    help: "Transactions of the admin API, by what became of them; after refused a transaction is still open.",
    read: byOutcome((config) => config.transactions),
  },
  {
    name: "bridge_config_probation",
    type: "gauge",
    help: "1 while the configuration in force is taken back unless it is confirmed.",
    read: ({ config }) => (config === undefined ? [] : flag(config.confirmBy !== undefined)),
  },
  {
    name: "bridge_config_probation_end_timestamp_seconds",
    type: "gauge",
    help: "Until when the configuration in force has to be confirmed, in seconds since 1970; absent while none has to be. Of one that another instance has left on probation, too, from a minute after that.",
    read: ({ config }) => {
      const end = config?.confirmBy ?? config?.leftConfirmBy;
      return end === undefined ? [] : single(end / 1_000);
    },
  },
  {
    name: "bridge_config_reverts_total",
    type: "counter",
    help: "Configurations on probation that were taken back, by why.",
    read: ({ config }) => Object.entries(config?.reverts ?? {}).map(([why, value]) => ({ labels: { why }, value })),
  },
];

function byOutcome(counts: (config: ConfigChanges) => Readonly<Record<string, number>>) {
  return ({ config }: Reading): readonly Sample[] =>
    config === undefined
      ? []
      : Object.entries(counts(config)).map(([outcome, value]) => ({ labels: { outcome }, value }));
}
