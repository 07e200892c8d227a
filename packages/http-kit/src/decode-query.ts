import { joined, type Said } from "@bridge/ports/internal";
import type { QuerySchema } from "./endpoint.ts";
import { HttpError } from "./http-error.ts";
import { firstOf, nameOf, parse } from "./problems.ts";

/**
 * Without a schema there are no parameters.
 * @param search as it stands in the URL
 * @throws HttpError 400 naming each parameter that is wrong, unknown or given twice: a filter that is misspelt would match everything
 */
export function decodeQuery(schema: QuerySchema | undefined, search: string): unknown {
  const query = new URLSearchParams(search);
  const known = Object.keys(schema?.entries ?? {});
  const problems = search.slice(1).split("&").flatMap(undecodable(known));
  const given: Record<string, string> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (!known.includes(name)) problems.push([{ sent: `${nameOf(name)}: ` }, "unknown parameter"]);
    else if (values.length > 1) problems.push(`${name}: is given ${values.length} times`);
    else given[name] = values[0] ?? "";
  }
  if (problems.length > 0) throw invalidQuery(firstOf(problems));
  if (schema === undefined) return undefined;
  const read = parse(schema, given);
  if ("value" in read) return read.value;
  throw invalidQuery(read.problem);
}

function invalidQuery(problem: Said): HttpError {
  return new HttpError(400, joined(["invalid query: ", problem]));
}

/** What is no text would be read as other text, and match something else, or nothing. */
function undecodable(known: readonly string[]): (pair: string) => readonly Said[] {
  return (pair) => {
    const [written = "", ...value] = pair.split("=");
    const name = decoded(written);
    if (name !== undefined && decoded(value.join("=")) !== undefined) return [];
    const where = name === undefined ? "" : `${nameOf(name)}: `;
    const isKnown = name !== undefined && known.includes(name);
    return [
      joined([
        isKnown ? where : [{ sent: where }],
        "a % has to begin two hexadecimal digits, of UTF-8: write %25 for itself",
      ]),
    ];
  };
}

/** `undefined` when it is no text. */
function decoded(written: string): string | undefined {
  try {
    return decodeURIComponent(written);
  } catch {
    return undefined;
  }
}
