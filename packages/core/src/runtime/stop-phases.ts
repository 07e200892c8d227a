import { deadline, orAborted } from "@bridge/ports";

/** One step of a stop, with a ceiling of its own. */
export interface StopPhase {
  /** What an operator reads in a stop error (spec 3.3). */
  readonly name: string;
  readonly ceilingMs: number;
  /** `signal` aborts at the ceiling; a phase still running then is abandoned. */
  run(signal: AbortSignal): Promise<void>;
}

/** A stop that did not go cleanly; the message names every phase that failed. */
export class StopError extends AggregateError {
  static {
    Object.defineProperty(this.prototype, "name", { value: "StopError" });
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

/** Runs stages in order and the phases of a stage side by side, whatever became of those before; returns what failed. */
export async function runStages(stages: readonly (readonly StopPhase[])[]): Promise<readonly PhaseFailure[]> {
  const failures: PhaseFailure[] = [];
  for (const stage of stages) {
    const ended = await Promise.all(stage.map(runPhase));
    failures.push(...ended.filter((failure) => failure !== undefined));
  }
  return failures;
}

async function runPhase(phase: StopPhase): Promise<PhaseFailure | undefined> {
  using ceiling = deadline(phase.ceilingMs, new Error(`still running after ${phase.ceilingMs} ms`));
  try {
    await orAborted(phase.run(ceiling.signal), ceiling.signal);
    return undefined;
  } catch (error) {
    return { phase: phase.name, error };
  }
}
