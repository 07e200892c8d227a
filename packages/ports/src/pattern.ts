/** Regular expressions whose cost is linear in the text, whatever a message brings: RE2's, in JavaScript. @module */
import { RE2JS, RE2JSSyntaxException } from "re2js";

export const PATTERN_LIMITS = {
  /** Characters of a pattern. */
  length: 4_096,
  /** Steps of the program that it compiles to: `a{1000}` is a thousand of them. */
  steps: 10_000,
  /** Memory of the automaton that a pattern is turned into while it matches, in bytes. */
  automaton: 1_048_576,
  /** Steps times characters, for the pattern whose automaton does not fit into that. */
  work: 4_194_304,
} as const;

/** Whether the pattern matches somewhere in a text; `undefined` when finding out would take too long. */
export type Pattern = (text: string) => boolean | undefined;

/** Why a pattern is not taken, without a word of it, which may be a secret; `undefined` when it is. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > PATTERN_LIMITS.length) {
    return `has ${pattern.length} characters, which is more than ${PATTERN_LIMITS.length}: test for a part, or use several conditions`;
  }
  try {
    const steps = RE2JS.compile(pattern).programSize();
    if (steps <= PATTERN_LIMITS.steps) return undefined;
    return `its repetitions make ${steps} steps, which is more than ${PATTERN_LIMITS.steps}: repeat fewer times`;
  } catch (thrown) {
    if (!(thrown instanceof RE2JSSyntaxException)) throw thrown;
    const { at, fragment } = placeOf(pattern, thrown);
    return `${describeProblem(fragment, thrown.error)}${at === 0 ? "" : ` (character ${at})`}`;
  }
}

/** Compiles a pattern that has no {@link patternProblem}. */
export function compilePattern(pattern: string): Pattern {
  const compiled = RE2JS.compile(pattern);
  const steps = compiled.programSize();
  const engine = compiled.re2();
  // The library bounds the automaton by 8 MiB, and then simulates the program, at steps times characters.
  engine.dfa.memBudget = engine.dfa.stateBudget = PATTERN_LIMITS.automaton;
  const simulate = engine.doExecuteNFA.bind(engine);
  engine.doExecuteNFA = (input: { endPos(): number }, ...rest) => {
    if (steps * input.endPos() > PATTERN_LIMITS.work) throw TOO_LONG;
    return simulate(input, ...rest);
  };
  return (text) => {
    try {
      return compiled.test(text);
    } catch (thrown) {
      if (thrown === TOO_LONG) return undefined;
      throw thrown;
    }
  };
}

const TOO_LONG = new Error("the text is too long for this pattern");

/** What RE2 leaves out so that it is linear, by how it is written. */
const LEFT_OUT: readonly (readonly [written: RegExp, problem: string])[] = [
  [/^\(\?<?[=!]/, "look-ahead and look-behind are not supported: use a further condition"],
  [/^\\[1-9k]/, "back-references are not supported: write out what may stand there"],
  [/^\\u/, "\\u is not supported: write \\x{263A} for a character by its number"],
];

function describeProblem(fragment: string, problem: string): string {
  return LEFT_OUT.find(([written]) => written.test(fragment))?.[1] ?? problem;
}

/** Where a pattern is wrong, counted from 1, and 0 when it is not known. */
function placeOf(pattern: string, { error, input }: RE2JSSyntaxException): { at: number; fragment: string } {
  const fragment = input ?? "";
  // What it reads after a backslash at the end is never right, so nothing is compiled only to find the place.
  const failsBefore = (end: number): boolean => {
    try {
      RE2JS.compile(`${pattern.slice(0, end)}\\`);
      return false;
    } catch (thrown) {
      return thrown instanceof RE2JSSyntaxException && thrown.error === error && thrown.input === input;
    }
  };
  if (fragment === "" || !failsBefore(pattern.length)) {
    const rest = fragment !== "" && pattern.endsWith(fragment);
    return { at: rest ? pattern.length - fragment.length + 1 : 0, fragment };
  }
  let [low, high] = [fragment.length, pattern.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (failsBefore(middle)) high = middle;
    else low = middle + 1;
  }
  return { at: pattern.lastIndexOf(fragment, low - fragment.length) + 1, fragment };
}
