import type { CheckedDocument } from "../check-document.ts";
import { formatProblem } from "../problem.ts";
import type { FileNamed, StartChecks, UnusableFile } from "../surroundings.ts";

type Check = (document: unknown, whyUnusable: UnusableFile) => Promise<CheckedDocument>;

/**
 * A changed document, held against what the next start would refuse. What the start would refuse of `base`, too, is
 * nothing that the change brings, and may be what it is to get over: that is warned of.
 */
export async function checkForStart(
  document: unknown,
  base: unknown,
  { whyUnusable, refusals }: StartChecks,
  check: Check,
): Promise<CheckedDocument> {
  let isFaulty = false;
  const first = await check(document, (file) => {
    const fault = whyUnusable(file);
    isFaulty ||= fault?.kind === "problem";
    return fault;
  });
  if (!isFaulty && (!first.ok || refusals(first.config).length === 0)) return first;
  const known = new Set<string>();
  const before = await check(base, (file) => {
    known.add(nameOf(file));
    return undefined;
  });
  const checked = await check(document, (file) => {
    const fault = whyUnusable(file);
    return fault && known.has(nameOf(file)) ? { ...fault, kind: "warning" } : fault;
  });
  if (!checked.ok) return checked;
  const old = new Set(before.ok ? refusals(before.config).map(formatProblem) : []);
  const refused = refusals(checked.config);
  const problems = refused.filter((problem) => !old.has(formatProblem(problem)));
  const warnings = [...checked.warnings, ...refused.filter((problem) => old.has(formatProblem(problem)))];
  if (problems.length === 0) return { ...checked, warnings };
  const { resolved, unread } = checked;
  return { ok: false, problems, warnings, resolved, unread };
}

function nameOf({ path, use, pem }: FileNamed): string {
  return JSON.stringify([path, use, pem]);
}
