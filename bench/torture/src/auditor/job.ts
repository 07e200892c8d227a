import type { EndName, Mode, RouteName } from "../routes.ts";
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
  /** Where the brokers are, and the HTTP target's journal if there is one. */
  readonly brokers: Readonly<EndPorts>;
  readonly journal: string | undefined;
}

/** Ports at the ends that a run has: those that taps pass on to, or those of the taps themselves. */
export type EndPorts = Partial<Record<EndName, number>>;

/** Where callers reach the bridge with messages of a route. */
export type Ingests = Readonly<Partial<Record<RouteName, number>>>;

/** How things stand. */
export interface Standing extends Totals {
  readonly interruptions: Interruptions;
  readonly answers: Answers;
  /** Offered, and not accepted by their sources yet. */
  readonly open: number;
}
