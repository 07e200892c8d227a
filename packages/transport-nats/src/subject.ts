/** A server takes lines of 4 KiB; of this one the reply's subject and two numbers are a part. */
export const MAX_SUBJECT_BYTES = 3_072;

/** Why nothing can be published to `subject`, as the end of a sentence; `undefined` when it can. */
export function subjectProblem(subject: string): string | undefined {
  const problem = filterProblem(subject);
  if (problem !== undefined) return problem;
  if (isPattern(subject)) return 'holds "*" or ">" as a token, which stand for subjects in filters only';
  return undefined;
}

/** Why `filter` selects no subjects, as the end of a sentence; `undefined` when it may. */
export function filterProblem(filter: string): string | undefined {
  if (filter === "") return "is empty";
  // eslint-disable-next-line no-control-regex
  if (/[\s\0-\x1f\x7f]/.test(filter)) return "holds white space or a control character";
  if (filter.startsWith(".") || filter.endsWith(".") || filter.includes("..")) return "has an empty token";
  if (filter.length > MAX_SUBJECT_BYTES || Buffer.byteLength(filter) > MAX_SUBJECT_BYTES)
    return `is longer than ${MAX_SUBJECT_BYTES} bytes`;
  const beyond = filter.indexOf(">.");
  if (beyond === 0 || (beyond > 0 && filter[beyond - 1] === ".")) return 'has a ">" that is not the last token';
  return undefined;
}

/** Why a stream or a consumer cannot have this name, as the end of a sentence; `undefined` when it can. */
export function nameProblem(name: string): string | undefined {
  // eslint-disable-next-line no-control-regex
  return /[\s.*>/\\\0-\x1f\x7f]/.test(name) ? 'holds white space, or one of ". * > / \\"' : undefined;
}

function isPattern(subject: string): boolean {
  if (!subject.includes("*") && !subject.includes(">")) return false;
  return subject.split(".").some((token) => token === "*" || token === ">");
}
