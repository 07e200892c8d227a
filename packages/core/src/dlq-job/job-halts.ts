import type { HaltVerdict } from "./halt.ts";
import type { Job } from "./job.ts";
import type { JobHold } from "./job-hold.ts";
import type { JobParts } from "./job-parts.ts";
import { moved } from "./job-state.ts";

const MAX_ERROR_LENGTH = 500;

/** A job that stops by itself, and how that is told: while its store is away it may have gone on elsewhere, so that it is told once it is stored. */
export class JobHalts {
  readonly #parts: JobParts;
  readonly #hold: JobHold;
  /** Why it has halted, which is not told yet. */
  #untold: HaltVerdict["why"] | undefined;

  constructor(parts: JobParts, hold: JobHold) {
    this.#parts = parts;
    this.#hold = hold;
  }

  /** Halts the job, which is `current` then. False: it stays as it is. */
  halt(verdict: HaltVerdict, error: string | undefined, current: () => Job): boolean {
    const hold = this.#hold;
    const { clock } = this.#parts;
    // Whoever has asked it to stand still need not hear that it would have done so by itself.
    if (hold.job.state !== "running" || hold.job.requested !== undefined) return false;
    const shown = error?.slice(0, MAX_ERROR_LENGTH);
    const halted = { at: clock.now(), ...verdict, ...(shown !== undefined && { error: shown }) };
    hold.job = { ...moved(current(), "halted", clock.now()), halted };
    this.#untold = verdict.why;
    if (hold.isStored) this.stored();
    return true;
  }

  /** Its store takes it. */
  stored(): void {
    if (this.#untold === undefined) return;
    this.#parts.tallies.halted(this.#untold);
    this.#parts.tell({ kind: "halted", job: this.#hold.job });
    this.#untold = undefined;
  }
}
