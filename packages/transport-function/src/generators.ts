/** A generator does nothing until somebody iterates it: a message handed to one would be accepted, and not be handled. @module */

const REMEDY = "nobody iterates what it returns, so that nothing of it would run: give it a function, async or not";

/** @throws TypeError when `run` is a generator function */
export function noGeneratorFunction<Run>(who: string, run: Run): Run {
  const tag = tagOf(run);
  if (tag !== "GeneratorFunction" && tag !== "AsyncGeneratorFunction") return run;
  throw new TypeError(`${who} is given a generator function: ${REMEDY}`);
}

/** @throws TypeError when a handler has returned a generator, as a function does that calls a generator function */
export function noGenerator(returned: unknown): void {
  if (typeof returned !== "object" || returned === null) return;
  const tag = tagOf(returned);
  if (tag === "Generator" || tag === "AsyncGenerator")
    throw new TypeError("it returned a generator, of which nothing has run: iterate it, and return when that is done");
}

function tagOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value).slice("[object ".length, -1);
  } catch {
    return "";
  }
}
