import { suggestion } from "@bridge/ports/internal";
import type { BaseIssue } from "valibot";
import type { Path, Problem } from "../problem.ts";
import type { HiddenValues } from "./hidden-values.ts";

export type Issue = BaseIssue<unknown>;

export function issuePath(issue: Issue): Path {
  return (issue.path ?? []).map((item) => item.key as string | number);
}

/** What a schema found, in words. An issue without a message of its own is described here. */
export function issueProblems(issue: Issue, base: Path, hidden: HiddenValues): readonly Problem[] {
  const path = [...base, ...issuePath(issue)];
  if (issue.message === "" && issue.type === "union" && issue.input !== undefined && issue.input !== null) {
    return unionProblems(issue, path, hidden);
  }
  return [{ path, message: message(issue, path, hidden) }];
}

/** Of the options of a union, the one that was meant has the outer form of the value, and found fault inside it. */
function unionProblems(issue: Issue, path: Path, hidden: HiddenValues): readonly Problem[] {
  const form = Array.isArray(issue.input) ? "array" : "object";
  const inside = (issue.issues ?? []).filter((sub) => sub.path?.[0].type === form);
  if (inside.length > 0) return inside.flatMap((sub) => issueProblems(sub, path, hidden));
  const wanted = new Set((issue.issues ?? []).map((sub) => wording(sub, path, hidden)));
  return [{ path, message: [...wanted].join(", or ") + got(issue, path, hidden) }];
}

function message(issue: Issue, path: Path, hidden: HiddenValues): string {
  const text = wording(issue, path, hidden);
  const quoted = typeof issue.input === "string" && text.includes(hidden.show(path, issue.input));
  return quoted ? text : text + got(issue, path, hidden);
}

function wording(issue: Issue, path: Path, hidden: HiddenValues): string {
  if (issue.kind === "schema" && issue.input === undefined) return requirement(issue);
  if (issue.kind === "schema" && issue.input === null) return "must not be null: give it a value or remove the key";
  if (issue.message === "") return expectation(issue, path, hidden);
  return hidden.tellable(issue.message, path) ?? "is not valid";
}

function requirement({ type, expected }: Issue): string {
  const choices = type === "variant" && expected !== null ? choicesOf(expected) : [];
  return choices.length === 0 ? "is required" : `is required: one of ${choices.join(", ")}`;
}

const BLOCK = "expected a block of keys";
const LIST = "expected a list";

const EXPECTED: Readonly<Record<string, string>> = {
  string: "expected a string",
  number: "expected a number",
  boolean: "expected true or false",
  array: LIST,
  tuple: LIST,
  strict_tuple: LIST,
  strict_object: BLOCK,
  object: BLOCK,
  loose_object: BLOCK,
  record: BLOCK,
};

function expectation(issue: Issue, path: Path, hidden: HiddenValues): string {
  const known = EXPECTED[issue.type];
  if (known !== undefined) return issue.expected === "never" ? "unknown key" : known;
  if (issue.expected === null) return issue.type.endsWith("check") ? "is not valid" : `is not a valid ${issue.type}`;
  if (issue.expected === "Object") return BLOCK;
  const choices = choicesOf(issue.expected);
  if (choices.length === 0) return `expected ${issue.expected}`;
  const hint = typeof issue.input === "string" && !hidden.covers(path) ? suggestion(issue.input, choices) : "";
  return `expected ${choices.length === 1 ? "" : "one of "}${choices.join(", ")}${hint}`;
}

/** `("info" | "warn")`, as valibot writes what a list of choices expects, as a list. */
function choicesOf(expected: string): readonly string[] {
  return [...expected.matchAll(/"([^"]*)"|(?<=[(| ]|^)-?\d+(?=[)| ]|$)/g)].map((match) => match[1] ?? match[0]);
}

/** The value that was refused, where it helps and may be seen. */
function got(issue: Issue, path: Path, hidden: HiddenValues): string {
  const { input } = issue;
  const missing = input === undefined || input === null || input === "" || issue.expected === "never";
  if (missing || hidden.covers(path) || issue.type === "min_length") return "";
  return ` (got ${wantsParts(issue) ? kindOf(input) : hidden.show(path, input)})`;
}

/** Whether a block or a list was wanted: a single value in its place can be a secret that belongs further inside. */
function wantsParts(issue: Issue): boolean {
  const expected = EXPECTED[issue.type];
  return expected === BLOCK || expected === LIST || issue.expected === "Object" || !!issue.issues?.some(wantsParts);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a block of keys" : `a ${typeof value}`;
}
