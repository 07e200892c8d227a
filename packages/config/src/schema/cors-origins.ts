import * as v from "valibot";

/** In a pattern that has no flags. */
const ONE = "[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\\\\\s,*]+";

/** A comma-separated list of origins (spec 5.8); the output is the list, each as browsers send it. */
export function corsOrigins() {
  return v.pipe(
    v.string("expected a string"),
    v.metadata({ pattern: `^\\s*(?:${ONE}\\s*(?:,\\s*${ONE}\\s*)*)?$` }),
    v.check(
      (text) => !text.includes("*"),
      'the wildcard "*" is not allowed: list each origin, such as "https://ops.example.com"',
    ),
    v.check(
      (text) => split(text).every(isOrigin),
      'not a comma-separated list of origins: write scheme and host, with a port if it has one, and no path, such as "https://ops.example.com, http://localhost:3000"',
    ),
    v.transform((text): readonly string[] => [...new Set(split(text).map((origin) => new URL(origin).origin))]),
  );
}

function split(text: string): readonly string[] {
  return text.trim() === "" ? [] : text.split(",").map((origin) => origin.trim());
}

const ORIGIN = /^https?:\/\/[^/?#@\\\s]+$/i;

function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text);
}
