import { fstatSync } from "node:fs";
import type { Pieces, Reading, Stamp } from "./digests.ts";
import { FilePages } from "./file-pages.ts";
import type { LogEnd } from "./log-end.ts";

/** Of the pages that the last checkpoint brought into the file: each older copy of the file differs in them. */
const LATEST = 64;
/** A file can change twice within the resolution of its times, so what it holds is compared once more this often. */
const DOUBTS = 2;
/** After a checkpoint so many pages are enough for that, the latest ones first. */
const DOUBTFUL = 16;

/** Pages that tell whether a file was changed while all of its log was brought into it. */
export interface Sampling {
  /** Of the file and of its log, to be read afterwards, before anything else is written, on any thread. */
  readonly pieces: readonly Pieces[];
  /** The pages of the first pieces. */
  readonly pages: readonly number[];
  /** Of them, those that this process has not written. */
  readonly unwritten: readonly number[];
  /** Of them, those of the second pieces. */
  readonly logged: readonly number[];
  /** Of them, those that are compared from then on. */
  readonly sampled: readonly number[];
}

type Digests = Map<number, number | undefined>;

/**
 * Whether somebody else writes to an open file, such as by copying an older one onto it. This process alone may write to it,
 * and does so at checkpoints only. Its times say at next to no cost that it was touched in between; then some of its pages
 * say whether it was changed.
 */
export class ForeignWrites {
  readonly #file: number;
  readonly #end: LogEnd;
  readonly #pages: FilePages;
  #stamp: Stamp;
  #sample: Digests;
  #doubts = DOUBTS;
  #doubtful: readonly number[];
  #checkpoints = 0;
  #found = false;

  constructor(file: number, end: LogEnd) {
    this.#file = file;
    this.#end = end;
    this.#pages = new FilePages(file);
    this.#stamp = stampOf(file);
    this.#doubtful = this.#pages.spread(this.#pages.count);
    this.#sample = byPage(this.#doubtful, this.#pages.digests(this.#doubtful));
  }

  /** Whether the file was changed. While a checkpoint runs that is not known yet. */
  look(which: "written" | "all"): boolean {
    if (this.#found || this.#checkpoints > 0) return this.#found;
    const stamp = stampOf(this.#file);
    if (!isSame(stamp, this.#stamp)) this.#doubtAll();
    else if (which === "written" || this.#doubts === 0) return false;
    else this.#doubts--;
    const now = byPage(this.#doubtful, this.#pages.digests(this.#doubtful));
    this.#found = this.#isChanged(this.#doubtful, now);
    this.#stamp = stamp;
    return this.#found;
  }

  /** This process is about to bring its log into the file. False when it must not, because that was changed. */
  beginCheckpoint(): boolean {
    if (this.look("written")) return false;
    this.#checkpoints++;
    return true;
  }

  /** What to read when all that was written until now is in the file. */
  sampling(): Sampling {
    const { pages: written } = this.#end;
    const unwritten = [...this.#sample.keys()].filter((page) => !written.has(page));
    const latest: number[] = [];
    const logged: number[] = [];
    const frames: number[] = [];
    let [count, older] = [this.#pages.count, written.size - LATEST];
    for (const [page, frame] of written) {
      if (page > count) count = page;
      if (older-- > 0) continue;
      latest.push(page);
      if (frame === undefined) continue;
      logged.push(page);
      frames.push(frame);
    }
    const sampled = [...new Set([...latest, ...this.#pages.spread(count)])];
    const pages = [...new Set([...sampled, ...unwritten])];
    return { pieces: [this.#pages.pieces(pages), this.#end.pieces(frames)], pages, unwritten, logged, sampled };
  }

  /** This process writes to it no more. Without a reading what it holds is not known. */
  endCheckpoint(sampling?: Sampling, reading?: Reading): void {
    if (--this.#checkpoints > 0) return;
    if (sampling !== undefined && reading !== undefined && this.#isSampled(sampling, reading)) this.#end.forgetPages();
    else {
      for (const page of this.#end.pages.keys()) this.#sample.delete(page);
      this.#doubtAll();
    }
  }

  /** False when the file was changed, or touched meanwhile. */
  #isSampled({ pages, unwritten, logged, sampled }: Sampling, { stamp, digests }: Reading): boolean {
    const [file = [], log = []] = digests;
    const now = byPage(pages, file);
    this.#found ||= this.#isChanged(unwritten, now) || logged.some((page, at) => now.get(page) !== log[at]);
    if (this.#found || !this.#is(stamp)) return false;
    this.#stamp = stamp;
    this.#sample = new Map(sampled.map((page) => [page, now.get(page)]));
    this.#doubtful = sampled.slice(0, DOUBTFUL);
    this.#doubts = DOUBTS;
    return true;
  }

  #isChanged(pages: readonly number[], now: Digests): boolean {
    return pages.some((page) => this.#sample.get(page) !== now.get(page));
  }

  #doubtAll(): void {
    this.#doubtful = [...this.#sample.keys()];
    this.#doubts = DOUBTS;
  }

  #is(stamp: Stamp): boolean {
    try {
      return isSame(stampOf(this.#file), stamp);
    } catch {
      return false;
    }
  }
}

function byPage(pages: readonly number[], digests: readonly number[]): Digests {
  return new Map(pages.map((page, at) => [page, digests[at]]));
}

function stampOf(file: number): Stamp {
  return fstatSync(file, { bigint: true });
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.ctimeNs === b.ctimeNs && a.mtimeNs === b.mtimeNs && a.size === b.size;
}
