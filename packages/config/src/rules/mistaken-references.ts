import type { Rule } from "./rule-context.ts";

/** What other programs put values in place of, or this one under another name. */
const LOOKS_LIKE_A_REFERENCE = /\$\{[^{}]*\}|^\s*\{\{.*\}\}\s*$/s;

/** A secret that was meant to come in through a reference, and is known to everybody who guesses the mistake. */
export const mistakenReferences: Rule = ({ hidden, report }) => {
  for (const { path, text } of hidden.written()) {
    if (!LOOKS_LIKE_A_REFERENCE.test(text)) continue;
    report.problem(
      path,
      "looks like a reference and is none, so it would be the secret itself: a reference is ${env:NAME} or ${file:/path}; " +
        "a secret with such text in it can come in through one",
    );
  }
};
