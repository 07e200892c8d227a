import { suggestion } from "./suggestion.ts";

const SHOWN = 100;

/** @throws TypeError when `given` has a member that `who` does not know: it would be ignored without a word */
export function onlyKnown<Given extends object>(who: string, given: Given, known: readonly string[]): Given {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return given;
  const meant = suggestion(unknown, known).replace("?", "");
  throw new TypeError(`${who} knows no "${unknown.slice(0, SHOWN)}"${meant}: there are ${known.join(", ")}`);
}
