import * as v from "valibot";

const MAX_ID_LENGTH = 64;
const ID = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const ID_OR_NOTHING = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]*)?$/;

function idText(pattern: RegExp) {
  return v.pipe(
    v.string("expected a string"),
    v.regex(pattern, "an id consists of letters, digits, '.', '_' and '-', and begins with a letter, a digit or '_'"),
    v.maxLength(MAX_ID_LENGTH, `an id has at most ${MAX_ID_LENGTH} characters`),
    v.metadata({ format: "id" }),
  );
}

/** The name of a part. Ids stand in URLs, metric labels and log lines as they are. */
export function id() {
  return idText(ID);
}

/** An id that may be left out; an empty string is the same as leaving it out. */
export function optionalId() {
  return v.optional(
    v.pipe(
      idText(ID_OR_NOTHING),
      v.transform((text) => (text === "" ? undefined : text)),
    ),
  );
}
