import type { Steps } from "@bridge/ports/internal";

/** Unchanged lines around each change. */
const CONTEXT = 3;
/** Of lines that go and come. More make no diff that is worth its search: what differs is told as one change. */
const MAX_EDITS = 1_000;
/** Comparisons in a step. */
const TOGETHER = 4_096;

/** Lines that go and lines that come, at one place; both as half-open ranges. */
interface Change {
  readonly from: readonly [start: number, end: number];
  readonly to: readonly [start: number, end: number];
}

/**
 * What differs between two texts, as `diff -u` tells it; empty when nothing does. Our own, since libraries search in
 * one go, or in pieces by timers of their own, and a document of a megabyte would hold the event loop meanwhile.
 */
export function* unifiedDiff(
  before: { readonly name: string; readonly text: string },
  after: { readonly name: string; readonly text: string },
): Steps<string> {
  if (before.text === after.text) return "";
  const [from, to] = [linesOf(before.text), linesOf(after.text)];
  yield;
  const changes = yield* changesBetween(from, to);
  const parts = [`--- ${before.name}\n+++ ${after.name}\n`];
  for (const hunk of hunksOf(changes)) {
    parts.push(hunkText(hunk, from, to));
    yield;
  }
  return parts.join("");
}

/** With their ends, so that a last line without one is another line. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function* changesBetween(from: readonly string[], to: readonly string[]): Steps<readonly Change[]> {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let [fromEnd, toEnd] = [from.length, to.length];
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd--;
    toEnd--;
  }
  yield;
  const [a, b] = [from.slice(start, fromEnd), to.slice(start, toEnd)];
  const found = yield* shortestEdits(a, b);
  const changes = found ?? [{ from: [0, a.length], to: [0, b.length] } as const];
  return changes.map((change) => ({
    from: [change.from[0] + start, change.from[1] + start],
    to: [change.to[0] + start, change.to[1] + start],
  }));
}

/** After Myers, "An O(ND) Difference Algorithm"; `undefined` when there are too many edits. */
function* shortestEdits(from: readonly string[], to: readonly string[]): Steps<readonly Change[] | undefined> {
  const rounds: Int32Array[] = [];
  let reached = new Int32Array([0]);
  let compared = 0;
  for (let edits = 0; edits <= Math.min(MAX_EDITS, from.length + to.length); edits++) {
    // The furthest place in `from` on each diagonal, from -edits to edits.
    const next = new Int32Array(2 * edits + 1);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = (other: number): number => reached[other + edits - 1] ?? -1;
      let x =
        edits === 0
          ? 0
          : diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1))
            ? at(diagonal + 1)
            : at(diagonal - 1) + 1;
      let y = x - diagonal;
      while (x < from.length && y < to.length && from[x] === to[y]) {
        x++;
        y++;
        if (++compared % TOGETHER === 0) yield;
      }
      next[diagonal + edits] = x;
      if (++compared % TOGETHER === 0) yield;
      if (x >= from.length && y >= to.length) return traced([...rounds, next], from.length, to.length);
    }
    rounds.push(next);
    reached = next;
  }
  return undefined;
}

/** The way back through the rounds. */
function traced(rounds: readonly Int32Array[], fromLength: number, toLength: number): readonly Change[] {
  const edits: { readonly x: number; readonly y: number; readonly comes: boolean }[] = [];
  let [x, y] = [fromLength, toLength];
  for (let round = rounds.length - 1; round > 0; round--) {
    const former = rounds[round - 1] ?? new Int32Array();
    const at = (other: number): number => former[other + round - 1] ?? -1;
    const diagonal = x - y;
    const comes = diagonal === -round || (diagonal !== round && at(diagonal - 1) < at(diagonal + 1));
    const origin = comes ? diagonal + 1 : diagonal - 1;
    x = at(origin);
    y = x - origin;
    edits.push({ x, y, comes });
  }
  const changes: Change[] = [];
  for (const edit of edits.toReversed()) {
    const last = changes.at(-1);
    const [fromEnd, toEnd] = [edit.x + (edit.comes ? 0 : 1), edit.y + (edit.comes ? 1 : 0)];
    if (last !== undefined && last.from[1] === edit.x && last.to[1] === edit.y)
      changes[changes.length - 1] = { from: [last.from[0], fromEnd], to: [last.to[0], toEnd] };
    else changes.push({ from: [edit.x, fromEnd], to: [edit.y, toEnd] });
  }
  return changes;
}

/** Changes that are near each other stand together. */
function hunksOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1);
    const end = last?.at(-1)?.from[1];
    if (last !== undefined && end !== undefined && change.from[0] - end <= 2 * CONTEXT) last.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function hunkText(changes: readonly Change[], from: readonly string[], to: readonly string[]): string {
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return "";
  const lead = Math.min(CONTEXT, first.from[0]);
  const trail = Math.min(CONTEXT, from.length - last.from[1]);
  const [fromStart, toStart] = [first.from[0] - lead, first.to[0] - lead];
  const [fromEnd, toEnd] = [last.from[1] + trail, last.to[1] + trail];
  const lines = [`@@ -${rangeOf(fromStart, fromEnd)} +${rangeOf(toStart, toEnd)} @@\n`];
  const add = (mark: string, part: readonly string[]): void => {
    for (const line of part) lines.push(line.endsWith("\n") ? mark + line : `${mark}${line}\n${NO_NEWLINE}`);
  };
  let at = fromStart;
  for (const change of changes) {
    add(" ", from.slice(at, change.from[0]));
    add("-", from.slice(...change.from));
    add("+", to.slice(...change.to));
    at = change.from[1];
  }
  add(" ", from.slice(at, fromEnd));
  return lines.join("");
}

const NO_NEWLINE = "\\ No newline at end of file\n";

/** Lines count from 1; of none, it is the line before. */
function rangeOf(start: number, end: number): string {
  const count = end - start;
  return count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`;
}
