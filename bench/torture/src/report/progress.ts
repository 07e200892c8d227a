import type { WriteStream } from "node:tty";
import type { Standing } from "../auditor/job.ts";

/** Where a run stands. */
export interface Progress {
  readonly phase: "starting" | "torture" | "coming to rest";
  readonly kills: number;
  readonly wantedKills: number;
  readonly troubles: number;
  readonly leftMs: number;
  readonly standing: Standing | undefined;
}

const BAR = 24;
const LINE_EVERY_MS = 5_000;
const CLEAR_LINE = "\r\u001B[2K";

/** A bar that moves on a terminal; elsewhere a line now and then. */
export class ProgressBar {
  readonly #out: WriteStream;
  #lastLine = Number.NEGATIVE_INFINITY;

  constructor(out: WriteStream) {
    this.#out = out;
  }

  show(progress: Progress): void {
    const text = lineOf(progress);
    if (this.#out.isTTY) {
      this.#out.write(`${CLEAR_LINE}${text.slice(0, this.#out.columns - 1)}`);
      return;
    }
    const now = performance.now();
    if (now - this.#lastLine < LINE_EVERY_MS) return;
    this.#lastLine = now;
    this.#out.write(`${text}\n`);
  }

  /** Leaves the terminal as it was. */
  end(): void {
    if (this.#out.isTTY) this.#out.write(CLEAR_LINE);
  }
}

function lineOf({ phase, kills, wantedKills, troubles, leftMs, standing }: Progress): string {
  const done = wantedKills === 0 ? BAR : Math.round((kills / wantedKills) * BAR);
  const bar = `[${"#".repeat(done)}${"-".repeat(BAR - done)}]`;
  const left = `${Math.max(0, Math.round(leftMs / 1_000))} s left`;
  if (standing === undefined) return `${bar} ${phase}, ${left}`;
  const { accepted, arrived, repeats } = standing;
  return `${bar} ${kills}/${wantedKills} kills, ${troubles} troubles, ${accepted} accepted, ${arrived} arrived, ${repeats} repeats, ${phase}, ${left}`;
}
