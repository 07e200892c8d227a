import type { Path, Problem } from "../problem.ts";

/** More than these are counted, not told: nobody reads further, and a document can be large. */
const MAX_PROBLEMS = 1000;

/** Collects what is found. */
export class Report {
  readonly #problems = new Bounded();
  readonly #warnings = new Bounded();

  problem(path: Path, message: string): void {
    this.#problems.add({ path, message });
  }

  /** Whether a problem at exactly this place has been told. */
  has(path: Path): boolean {
    return this.#problems.has(path);
  }

  warning(path: Path, message: string): void {
    this.#warnings.add({ path, message });
  }

  problems(): readonly Problem[] {
    return this.#problems.list();
  }

  warnings(): readonly Problem[] {
    return this.#warnings.list();
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
