import type { DeadLetterHead, FacetGroup, FacetKey, Facets, FacetsRequest } from "../dlq-store.ts";
import { histogramOf, histogramStep } from "./facet-histogram.ts";

/** What entries can be grouped by. */
export type FacetLine = Pick<
  DeadLetterHead,
  "routeId" | "bindingId" | "category" | "errorCode" | "fingerprint" | "marks"
>;

/** So many entries of one line, and between which times they failed. */
export interface FacetCell {
  readonly count: number;
  readonly oldestFailedAt: number;
  readonly newestFailedAt: number;
}

interface Group<Line> {
  readonly key: FacetGroup["key"];
  readonly text: string;
  count: number;
  oldestFailedAt: number;
  newestFailedAt: number;
  /** Of its youngest entry. */
  line: Line;
}

/** The cell of one entry. */
export function oneAt(failedAt: number): FacetCell {
  return { count: 1, oldestFailedAt: failedAt, newestFailedAt: failedAt };
}

/** Counts entries by groups, for whoever goes through entries or through counts of them. */
export class FacetTally<Line extends FacetLine> {
  readonly #request: FacetsRequest;
  readonly #resolutionMs: number;
  readonly #groups = new Map<string, Group<Line>>();
  readonly #times = new Map<number, number>();
  #counted = 0;
  #oldestFailedAt = Infinity;
  #newestFailedAt = -Infinity;

  /** No step of the histogram is finer than `resolutionMs`; a cell lies within one multiple of it. */
  constructor(request: FacetsRequest, resolutionMs = 60_000) {
    this.#request = request;
    this.#resolutionMs = resolutionMs;
  }

  get counted(): number {
    return this.#counted;
  }

  add(line: Line, cell: FacetCell): void {
    this.addAll(line, [cell]);
  }

  /** The same, once for all cells of a line. */
  addAll(line: Line, cells: readonly FacetCell[]): void {
    const group = this.#groupOf(line);
    for (const { count, oldestFailedAt, newestFailedAt } of cells) {
      if (newestFailedAt >= group.newestFailedAt) group.line = line;
      group.count += count;
      group.oldestFailedAt = Math.min(group.oldestFailedAt, oldestFailedAt);
      group.newestFailedAt = Math.max(group.newestFailedAt, newestFailedAt);
      this.#counted += count;
      if (this.#request.buckets === 0) continue;
      const time = Math.floor(oldestFailedAt / this.#resolutionMs) * this.#resolutionMs;
      this.#times.set(time, (this.#times.get(time) ?? 0) + count);
    }
    this.#oldestFailedAt = Math.min(this.#oldestFailedAt, group.oldestFailedAt);
    this.#newestFailedAt = Math.max(this.#newestFailedAt, group.newestFailedAt);
  }

  /**
   * What it has counted. `exact`: that is all there is; else `looked` says at how many entries somebody has looked. `sampleOf` gives
   * an entry of a line.
   */
  facets(exact: boolean, sampleOf: (line: Line) => DeadLetterHead | undefined, looked = this.#counted): Facets {
    const { maxGroups } = this.#request;
    const groups = [...this.#groups.values()].toSorted((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));
    const all = { total: this.#counted, exact, counted: exact ? this.#counted : looked };
    if (groups.length === 0) return { ...all, groups: [], moreGroups: false };
    return {
      ...all,
      oldestFailedAt: this.#oldestFailedAt,
      newestFailedAt: this.#newestFailedAt,
      groups: groups.slice(0, maxGroups).map(({ key, count, oldestFailedAt, newestFailedAt, line }) => {
        const sample = sampleOf(line);
        return { key, count, oldestFailedAt, newestFailedAt, ...(sample !== undefined && { sample }) };
      }),
      moreGroups: groups.length > maxGroups,
      ...this.#histogram(),
    };
  }

  #groupOf(line: Line): Group<Line> {
    const values = this.#request.by.map((name) => valueOf(line, name));
    const text = JSON.stringify(values);
    let group = this.#groups.get(text);
    if (group === undefined) {
      const key = Object.fromEntries(this.#request.by.map((name, index) => [name, values[index] ?? ""]));
      group = { key, text, count: 0, oldestFailedAt: Infinity, newestFailedAt: -Infinity, line };
      this.#groups.set(text, group);
    }
    return group;
  }

  #histogram(): Pick<Facets, "histogram"> {
    const { buckets } = this.#request;
    if (buckets === 0) return {};
    const [oldest, newest] = [this.#oldestFailedAt, this.#newestFailedAt];
    const stepMs = histogramStep(oldest, newest, { buckets, resolutionMs: this.#resolutionMs });
    return { histogram: histogramOf(this.#times, { oldest, newest, stepMs }) };
  }
}

/** An entry without one has `""`. */
function valueOf(line: FacetLine, name: FacetKey): string {
  return name === "assignee" ? (line.marks?.assignee ?? "") : line[name];
}
