/** The first that takes a reason behind `+TERM`; the ones before do not know the word then, and hand the message out again. */
const REASONS = [2, 10, 4] as const;

/** Whether a server of this version takes a reason for giving a message up. */
export function takesReasons(version = ""): boolean {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (parts === undefined) return false;
  for (const [index, needed] of REASONS.entries()) {
    const part = parts[index] ?? 0;
    if (part !== needed) return part > needed;
  }
  return true;
}
