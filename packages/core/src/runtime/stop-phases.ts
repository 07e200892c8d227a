import type { Clock } from "@bridge/ports";
import { deadline, knownAcrossCopies, orAborted, Slices } from "@bridge/ports/internal";

/** One step of a stop, with a ceiling of its own. */
export interface StopPhase {
  /** What an operator reads in a stop error (spec 3.3). */
  readonly name: string;
  readonly ceilingMs: number;
  /** A phase that is still running at the ceiling is abandoned. */
  run(): Promise<void>;
  /** What is still at work, for the error of a phase that reached its ceiling. */
  readonly running?: () => readonly string[];
}

/** A stop that did not go cleanly; the message names every phase that failed. */
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
 * Runs phases side by side, whatever becomes of the others; returns what failed. They are begun in slices, each under its
 * ceiling from then on. `onEnd` hears of each that has ended.
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
