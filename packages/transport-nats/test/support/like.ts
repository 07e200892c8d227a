import { expect } from "vitest";

/** For expectations about the text of an error. */
export function like(pattern: string | RegExp): unknown {
  return expect.stringMatching(pattern);
}

/** For expectations about some fields. */
export function containing(fields: object): unknown {
  return expect.objectContaining(fields);
}
