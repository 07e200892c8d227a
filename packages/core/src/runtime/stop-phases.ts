import type { Clock } from "@bridge/ports";
import { deadline, knownAcrossCopies, orAborted, Slices } from "@bridge/ports/internal";

/** One step of a stop, with its own time limit. */
export interface StopPhase {
  /** Its name in a stop error, for operators (spec 3.3). */
  readonly name: string;
  readonly ceilingMs: number;
  /** If it still runs at the limit, it is abandoned. */
  run(): Promise<void>;
  /** What still runs, for the error of a phase that reached its limit. */
  readonly running?: () => readonly string[];
}

/** A stop that failed in part; the message names every failed phase. */
export class StopError extends AggregateError {
  static {
    Object.defineProperty(this.prototype, "name", { value: "StopError" });
    knownAcrossCopies(this, "stop-error");
  }

  readonly phases: readonly string[];

  constructor(failures: readonly PhaseFailure[]) {
    const named = failures.map(
      ({ phase, error }) => `${phase} (${error instanceof Error ? error.message : String(error)})`,
    );
    super(
      failures.map((failure) => failure.error),
      `the stop failed in: ${named.join(", ")}`,
    );
    this.phases = failures.map((failure) => failure.phase);
  }
}

export interface PhaseFailure {
  readonly phase: string;
  readonly error: unknown;
}

/**
 * Runs phases in parallel, each regardless of the others; returns the failures. Begins them in slices; each phase's
 * limit counts from its own start. Calls `onEnd` as each phase ends.
 */
export async function runPhases(
  clock: Clock,
  phases: readonly StopPhase[],
  onEnd: (phase: StopPhase) => void = () => {},
  slices: Slices = new Slices(clock),
): Promise<readonly PhaseFailure[]> {
  const running: Promise<PhaseFailure | undefined>[] = [];
  await slices.each(phases, (phase) => void running.push(runPhase(clock, phase).finally(() => onEnd(phase))));
  const ended = await Promise.all(running);
  return ended.filter((failure) => failure !== undefined);
}

async function runPhase(clock: Clock, phase: StopPhase): Promise<PhaseFailure | undefined> {
  using ceiling = deadline(clock, phase.ceilingMs, new Error("still running at the deadline"));
  try {
    await orAborted(phase.run(), ceiling.signal);
    return undefined;
  } catch (error) {
    const running = ceiling.signal.aborted ? (phase.running?.() ?? []) : [];
    if (running.length === 0) return { phase: phase.name, error };
    return { phase: phase.name, error: new Error(`still running at the deadline: ${running.join(", ")}`) };
  }
}
