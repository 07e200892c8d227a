import { formatPath, type Path } from "../problem.ts";
import type { Rule } from "./rule-context.ts";

/** What audit events call the keys that have no names. */
const TAKEN: readonly string[] = ["admin", "monitor"];

/** Each key has a name of its own, and is nobody else's. */
export const apiKeys: Rule = ({ draft: { http = {} }, report, hidden }) => {
  const names = new Map<string, Path>();
  const owners = new Map<string, Path>();
  for (const single of ["admin_api_key", "monitor_api_key"] as const)
    if (http[single] !== undefined && http[single] !== "") owners.set(http[single], ["http", single]);
  for (const [index, given] of (http.api_keys ?? []).entries()) {
    if (given === undefined) continue;
    const path: Path = ["http", "api_keys", index];
    const { id, key } = given;
    if (id !== undefined) {
      const first = names.get(id);
      const shown = hidden.show([...path, "id"], id);
      if (TAKEN.includes(id))
        report.problem([...path, "id"], `the name ${shown} is that of a key without a name: choose another`);
      else if (first !== undefined)
        report.problem([...path, "id"], `the name ${shown} is taken by ${formatPath(first)}: choose another`);
      else names.set(id, path);
    }
    const owner = key === undefined ? undefined : owners.get(key);
    if (owner !== undefined)
      report.problem([...path, "key"], `is the key of ${formatPath(owner)}: an audit event could not tell who it was`);
    else if (key !== undefined) owners.set(key, path);
  }
};
