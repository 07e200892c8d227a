import { kindOf } from "./kind-of.ts";

/**
 * The options that a program has called `who` with. `remedy` says what to give, for whoever has left them out.
 * @throws TypeError for what has no members to be options: a number, a list, a Map, a promise. It would be taken for no options
 */
export function givenOptions<Options extends object>(who: string, options: Options, remedy = "an object"): Options {
  if (hasMembers(options)) return options;
  throw new TypeError(`options of ${who} are ${kindOf(options)}: give it ${remedy}`);
}

/** The same of options that may be left out. */
export function moreOptions<Options extends object>(who: string, options: Options | undefined): Partial<Options> {
  return options === undefined ? {} : givenOptions(who, options);
}

function hasMembers(value: unknown): boolean {
  try {
    return typeof value === "object" && value !== null && !(Symbol.iterator in value) && !("then" in value);
  } catch {
    return false;
  }
}
