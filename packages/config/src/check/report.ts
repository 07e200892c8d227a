import type { Path, Problem } from "../problem.ts";

/** More than these are counted, not told: nobody reads further, and a document can be large. */
const MAX_PROBLEMS = 1000;
/** Of a kind of warning: the first show what is meant. */
const MAX_ALIKE = 10;

/** Collects what is found. */
export class Report {
  readonly #problems = new Bounded();
  readonly #warnings = new Bounded();
  /** How many there are of a kind, and where the first is that is not told by itself. */
  readonly #alike = new Map<string, { readonly count: number; readonly next: Path }>();

  problem(path: Path, message: string): void {
    this.#problems.add({ path, message });
  }

  /** Whether a problem at exactly this place has been told. */
  has(path: Path): boolean {
    return this.#problems.has(path);
  }

  /**
   * `alike`: what many such warnings are about, in the plural; of these only the first ten are told, and how many more
   * there are.
   */
  warning(path: Path, message: string, alike?: string): void {
    if (alike !== undefined) {
      const { count, next } = this.#alike.get(alike) ?? { count: 0, next: path };
      const isTold = count < MAX_ALIKE;
      this.#alike.set(alike, { count: count + 1, next: count <= MAX_ALIKE ? path : next });
      if (!isTold) return;
    }
    this.#warnings.add({ path, message });
  }

  problems(): readonly Problem[] {
    return this.#problems.list();
  }

  warnings(): readonly Problem[] {
    const more = [...this.#alike].filter(([, { count }]) => count > MAX_ALIKE);
    const told = more.map(([alike, { count, next }]) => ({
      path: next,
      message: `from here on ${count - MAX_ALIKE} more ${alike}`,
    }));
    return [...this.#warnings.list(), ...told];
  }
}

class Bounded {
  readonly #list: Problem[] = [];
  readonly #places = new Set<string>();
  #beyond = 0;

  has(path: Path): boolean {
    return this.#places.has(JSON.stringify(path));
  }

  add(problem: Problem): void {
    this.#places.add(JSON.stringify(problem.path));
    if (this.#list.length < MAX_PROBLEMS) this.#list.push(problem);
    else this.#beyond++;
  }

  list(): readonly Problem[] {
    return this.#beyond === 0 ? this.#list : [...this.#list, { path: [], message: `and ${this.#beyond} more` }];
  }
}
