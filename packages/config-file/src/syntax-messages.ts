import type { ErrorCode } from "yaml";

/** What the parser found, in words of our own: its messages quote the text, which may be a secret. */
export const SYNTAX_MESSAGES: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: "an alias cannot have an anchor or a tag",
  BAD_ALIAS: "this anchor or alias has no valid name",
  BAD_COLLECTION_TYPE: "the tag does not fit what it stands at",
  BAD_DIRECTIVE: "this directive is malformed or not known",
  BAD_DQ_ESCAPE: "a string in double quotes holds an escape that is not known: double the backslash",
  BAD_INDENT: "the indentation does not fit the lines above, or a bracket or brace is not closed there",
  BAD_PROP_ORDER: "anchors and tags stand before the value, after its indicator",
  BAD_SCALAR_START: "a plain string cannot begin with this character: put it in quotes",
  BLOCK_AS_IMPLICIT_KEY: "a block cannot stand here: put it on lines of its own, or quote a string that holds a colon",
  BLOCK_IN_FLOW: "a block cannot stand inside brackets or braces",
  DUPLICATE_KEY: "this key is there already: remove one of them",
  IMPOSSIBLE: "cannot be read as YAML",
  KEY_OVER_1024_CHARS: "a key has at most 1024 characters",
  MISSING_CHAR: "a character is missing: a closing quote, bracket or brace, a comma, or a colon or space after a key",
  MULTILINE_IMPLICIT_KEY: "a key stands on one line: perhaps a colon or a closing quote is missing",
  MULTIPLE_ANCHORS: "a value has at most one anchor",
  MULTIPLE_DOCS: "a file holds one document: remove everything after the line ---",
  MULTIPLE_TAGS: "a value has at most one tag",
  NON_STRING_KEY: "a key is a string",
  RESOURCE_EXHAUSTION: "is nested too deep",
  TAB_AS_INDENT: "tabs cannot indent: use spaces",
  TAG_RESOLVE_FAILED: "tags other than those of JSON's types are not supported: remove it",
  UNEXPECTED_TOKEN: "this cannot stand here: perhaps a quote, comma or colon is missing before it",
};
