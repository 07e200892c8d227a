import { formatPath, type Path } from "../problem.ts";

/** How a message names the part that has its options, or a field, at `path`. */
export function partAt(path: Path): string {
  return formatPath(path[0] === "receivers" || path[0] === "stores" ? path.slice(0, 2) : path);
}
