import { fstatSync } from "node:fs";
import type { LogEnd } from "./log-end.ts";
import { PageSample } from "./page-sample.ts";

/** Of the pages that the last checkpoint brought into the file: each older copy of the file differs in them. */
const LATEST = 64;
/** A file can change twice within the resolution of its times, so what it holds is compared once more this often. */
const DOUBTS = 2;

/** What changes whenever somebody writes to a file. */
interface Stamp {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  /** This one nobody can set back, as `cp -p` and `rsync -t` do with the other. */
  readonly ctimeNs: bigint;
}

/**
 * Whether somebody else writes to an open file, such as by copying an older one onto it. This process alone may write to it,
 * and does so at checkpoints only. Its times say at next to no cost that it was touched in between; then some of its pages
 * say whether it was changed.
 */
export class ForeignWrites {
  readonly #file: number;
  readonly #end: LogEnd;
  #stamp: Stamp;
  #sample: PageSample;
  #doubts = DOUBTS;
  #checkpoints = 0;
  #found = false;

  constructor(file: number, end: LogEnd) {
    this.#file = file;
    this.#end = end;
    this.#stamp = stampOf(file);
    this.#sample = new PageSample(file, Number(this.#stamp.size));
  }

  /** Whether the file was changed. While a checkpoint runs that is not known yet. */
  look(which: "written" | "all"): boolean {
    if (this.#found || this.#checkpoints > 0) return this.#found;
    const stamp = stampOf(this.#file);
    if (!isSame(stamp, this.#stamp)) this.#doubts = DOUBTS;
    else if (which === "written" || this.#doubts === 0) return false;
    else this.#doubts--;
    this.#found = this.#sample.isChanged();
    this.#stamp = stamp;
    return this.#found;
  }

  /** This process is about to bring its log into the file. False when it must not, because that was changed. */
  beginCheckpoint(): boolean {
    if (this.look("written")) return false;
    this.#checkpoints++;
    return true;
  }

  /** It does so no more. `isWhole` when all that was written is in the file. */
  endCheckpoint(isWhole: boolean): void {
    if (--this.#checkpoints > 0) return;
    const { pages } = this.#end;
    this.#doubts = DOUBTS;
    const sample = isWhole ? this.#sampleAgain(pages) : undefined;
    if (sample === undefined) this.#sample.forget(pages.keys());
    else {
      this.#sample = sample;
      this.#end.forgetPages();
    }
  }

  /** `undefined` when the file was changed, or touched meanwhile, or cannot be read. */
  #sampleAgain(pages: LogEnd["pages"]): PageSample | undefined {
    try {
      const stamp = stampOf(this.#file);
      const latest = [...pages].slice(-LATEST);
      const isIn = ([page, frame]: readonly [number, number | undefined]): boolean =>
        frame === undefined || this.#end.holds(frame, this.#sample.read(page));
      this.#found ||= this.#sample.isChanged(pages) || !latest.every(isIn);
      if (this.#found) return undefined;
      const more = latest.map(([page]) => page);
      const sample = new PageSample(this.#file, Number(stamp.size), more);
      if (!isSame(stampOf(this.#file), stamp)) return undefined;
      this.#stamp = stamp;
      return sample;
    } catch {
      return undefined;
    }
  }
}

function stampOf(file: number): Stamp {
  return fstatSync(file, { bigint: true });
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size;
}
