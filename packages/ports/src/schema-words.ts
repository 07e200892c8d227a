/**
 * What options say of themselves in JSON Schema, for the metadata beside the checks that say it in words. @module
 */

/** For the metadata of a block: in JSON Schema, that of two options there are both or none. A check beside it says so, too. */
export function bothOrNone(one: string, other: string) {
  return { dependencies: { [one]: [other], [other]: [one] } };
}

/** For the metadata of a block: in JSON Schema, that what holds `condition` holds `consequence`. A check beside it says so, too. */
export function conditional(condition: object, consequence: object) {
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word; nobody awaits a schema
  return { if: condition, then: consequence };
}

/** In JSON Schema, a string of this form; use it within {@link conditional}, where references take its place. */
export function matching(pattern: string) {
  return { type: "string", pattern };
}

/** A pattern of a port, from 0 to 65535. */
export const PORT = "(?:\\d{1,4}|0\\d{4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])";
