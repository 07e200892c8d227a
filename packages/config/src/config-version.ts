/** The largest `config_version` that a document may have: there is room beyond all that is ever counted. */
export const MAX_CONFIG_VERSION = 999_999_999_999_999;

/** So many commits have to fit between a version that is only remembered and the largest one. */
const ROOM = 1_000_000;

/** Whether there is a version after this one. */
export function hasNext(version: number): boolean {
  return version < MAX_CONFIG_VERSION;
}

/**
 * Whether a version in a history counts: one at the edge was written by nobody, and would leave no room for the next.
 */
export function isCounted(version: number): boolean {
  return Number.isSafeInteger(version) && version <= MAX_CONFIG_VERSION - ROOM;
}
