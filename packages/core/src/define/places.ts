import type { Path, Problem } from "@bridge/config";

/** Where in a definition the parts of its document stand, so that problems name the place that their author knows. */
export class Places {
  readonly #places = new Map<string, Path>();

  /** What stands at `path` of the document was written at `place` of the definition. */
  set(path: Path, place: Path): void {
    this.#places.set(JSON.stringify(path), place);
  }

  /** The same problem, at its place in the definition. */
  of({ path, message }: Problem): Problem {
    for (let length = path.length; length > 0; length--) {
      const place = this.#places.get(JSON.stringify(path.slice(0, length)));
      if (place === undefined) continue;
      const [first, ...others] = path.slice(length);
      // The options of a part are what its adapter was called with.
      const rest = first === undefined ? [] : first === "options" ? others : [first, ...others];
      return { path: [...place, ...rest], message };
    }
    return { path, message };
  }
}
