import type { ErrorCode } from "@bridge/ports";

/** Failures of one kind. */
export interface ErrorGroup {
  readonly fingerprint: string;
  readonly code: ErrorCode;
  /** Of the first of them, cut short. */
  readonly error: string;
  readonly count: number;
  /** The first of them. */
  readonly ids: readonly string[];
}

const MAX_GROUPS = 20;
const MAX_IDS = 10;
const MAX_ERROR_LENGTH = 256;

/** The groups with one failure more; what is of yet another kind when there are enough is only in the job's count. */
export function withFailure(
  groups: readonly ErrorGroup[],
  failure: Pick<ErrorGroup, "fingerprint" | "code" | "error"> & { readonly id: string },
): readonly ErrorGroup[] {
  const { fingerprint, code, error, id } = failure;
  const at = groups.findIndex((group) => group.fingerprint === fingerprint);
  const group = groups[at];
  if (group !== undefined) {
    const ids = group.ids.length < MAX_IDS ? [...group.ids, id] : group.ids;
    return groups.with(at, { ...group, count: group.count + 1, ids });
  }
  if (groups.length >= MAX_GROUPS) return groups;
  return [...groups, { fingerprint, code, error: error.slice(0, MAX_ERROR_LENGTH), count: 1, ids: [id] }];
}
