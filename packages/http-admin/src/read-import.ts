import { createHash } from "node:crypto";
import { HttpError } from "@bridge/http-kit";
import type { DeadLetter } from "@bridge/ports";
import type { Slices } from "@bridge/ports/internal";
import { type ImportedLine, readLine } from "./import-line.ts";
import { LIMITS } from "./limits.ts";

/** What is wrong with a line; the first one is 1. */
export interface LineError {
  readonly line: number;
  readonly error: string;
}

/** An entry, and the lines that have it: the first one counts. */
export interface FoundEntry {
  readonly entry: DeadLetter;
  readonly lines: number[];
}

const [LINE_END, RETURN] = [0x0a, 0x0d];

/**
 * Reads all lines; what is wrong with one says nothing of another. None may have failed after `latest`, in epoch milliseconds.
 * @throws HttpError 400 for too many
 */
export async function readImport(
  body: Uint8Array,
  slices: Slices,
  latest: number,
): Promise<{ readonly found: readonly FoundEntry[]; readonly errors: LineError[] }> {
  const byId = new Map<string, FoundEntry>();
  const errors: LineError[] = [];
  let [count, digest, all] = [0, createHash("sha256"), 0];
  for (const { number, line, whole } of linesOf(body)) {
    if (slices.over) await slices.next();
    const read = line.length === 0 ? undefined : readLine(line, latest);
    if (read?.kind === "end") {
      const problem = endProblem(read, { count, sha256: digest.digest("hex") });
      if (problem !== undefined) errors.push({ line: number, error: problem });
      // Another export may come behind this one.
      [count, digest] = [0, createHash("sha256")];
      continue;
    }
    digest.update(whole);
    if (read === undefined) continue;
    if (++all > LIMITS.importLines)
      throw new HttpError(400, `invalid request body: has more than ${LIMITS.importLines} lines`);
    count++;
    if (read.kind === "wrong") errors.push({ line: number, error: read.problem });
    else {
      const known = byId.get(read.entry.id);
      if (known === undefined) byId.set(read.entry.id, { entry: read.entry, lines: [number] });
      else known.lines.push(number);
    }
  }
  return { found: [...byId.values()], errors };
}

type EndFacts = Pick<ImportedLine & { readonly kind: "end" }, "count" | "sha256">;

function endProblem(told: EndFacts, is: EndFacts): string | undefined {
  if (told.count !== is.count) return `count: says ${told.count}, and ${is.count} lines come before it`;
  if (told.sha256 !== is.sha256) return "sha256: is not that of the lines before it";
  return undefined;
}

interface Line {
  readonly number: number;
  readonly line: Uint8Array;
  /** With its end. */
  readonly whole: Uint8Array;
}

function* linesOf(body: Uint8Array): Generator<Line> {
  let number = 0;
  for (let start = 0; start < body.length;) {
    const end = body.indexOf(LINE_END, start);
    const next = end < 0 ? body.length : end + 1;
    let last = end < 0 ? body.length : end;
    if (last > start && body[last - 1] === RETURN) last--;
    yield { number: ++number, line: body.subarray(start, last), whole: body.subarray(start, next) };
    start = next;
  }
}
