import type { Mode, RouteName } from "../routes.ts";
import type { Answers } from "./http-source.ts";
import type { Totals } from "./ledger.ts";
import type { Interruptions } from "./wires.ts";

/** What the auditor is started with. */
export interface AuditorJob {
  readonly routes: readonly RouteName[];
  readonly mode: Mode;
  /** Messages a second over all routes. */
  readonly rate: number;
  /** Whether some messages are made so that they end in the DLQ. */
  readonly mayFail: boolean;
  /** Epoch milliseconds that the times in findings are counted from. */
  readonly began: number;
  /** Ports of both brokers, and the HTTP target's journal. */
  readonly sourceBroker: number;
  readonly targetBroker: number;
  readonly journal: string;
}

/** The ports that taps pass on to, and those of the taps themselves. */
export interface TapPorts {
  /** The source's broker. */
  readonly source: number;
  /** Where the bridge takes requests in. */
  readonly ingest: number;
  /** The target's broker. */
  readonly target: number;
  /** The HTTP target. */
  readonly web: number;
}

/** How things stand. */
export interface Standing extends Totals {
  readonly interruptions: Interruptions;
  readonly answers: Answers;
  /** Offered, and not accepted by their sources yet. */
  readonly open: number;
}
