import type { Path, Problem } from "@bridge/config";

/** What the parts of a route are called in a document, all of them after the route or the target. */
const CALLED: ReadonlySet<unknown> = new Set(["id", "receiver_id", "sender_id", "bindings"]);

/** Where in a definition the parts of its document stand, so that problems name the place that their author knows. */
export class Places {
  readonly #places = new Map<string, Path>();

  /** What stands at `path` of the document was written at `place` of the definition. */
  set(path: Path, place: Path): void {
    this.#places.set(JSON.stringify(path), place);
  }

  /** The same problems, each at its place in the definition; what a name of a route brings upon all its parts is told once. */
  all(problems: readonly Problem[]): readonly Problem[] {
    const told: Problem[] = [];
    for (const problem of problems) {
      const placed = this.of(problem);
      const [top, route] = placed.path;
      const at = placed.path.findIndex((key, index) => index > 1 && CALLED.has(key));
      const same = told.findIndex(({ path, message }) => path[1] === route && message === placed.message);
      const other = told[same];
      if (top !== "routes" || at === -1 || other === undefined)
        told.push(top === "routes" ? called(placed, at) : placed);
      // A binding is listed by the name that it has elsewhere.
      else if (placed.path[at] !== "bindings" && at < other.path.length) told[same] = called(placed, at);
    }
    return told;
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

/** The problem of what is called so, rather than of its id, which the definition does not have. */
function called(problem: Problem, at: number): Problem {
  return at === -1 || problem.path[at] === "bindings" ? problem : { ...problem, path: problem.path.slice(0, at) };
}
