import assert from "node:assert/strict";
import { systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { describe, test } from "vitest";
import type { Case, Excuses } from "./case.ts";

/** How long a case may take: far more than it needs, as a busy machine is no failure. */
const CASE_TIMEOUT_MS = 280_000;
/** What a case that was given up may take to clean up after itself. */
const CLEANUP_TIMEOUT_MS = 15_000;

/** Registers one test for each case. The name of an excused one says why. */
export function registerCases<Name extends string>(
  kind: string,
  subject: string,
  cases: readonly Case<Name>[],
  excuses: Excuses<Name> = {},
): void {
  const entries = cases.map((entry) => toTest(entry, excuses[entry.name]));
  describe(`${kind} ${subject}`, () => {
    // oxlint-disable-next-line vitest/expect-expect -- the cases assert
    test.for(entries)("$title", { timeout: CASE_TIMEOUT_MS + CLEANUP_TIMEOUT_MS }, async ({ run }) => {
      using bound = deadline(systemClock, CASE_TIMEOUT_MS, new Error(`the case took more than ${CASE_TIMEOUT_MS} ms`));
      await run(bound.signal);
    });
    test("every excuse is for a case of this suite", () => {
      const names = new Set<string>(cases.map(({ name }) => name));
      const unknown = Object.keys(excuses).filter((name) => !names.has(name));
      assert.deepEqual(unknown, [], "excused from what is no case");
    });
  });
}

interface Entry {
  readonly title: string;
  readonly run: Case["run"];
}

function toTest({ name, run, runExcused }: Case, reason: string | undefined): Entry {
  if (reason === undefined) return { title: name, run };
  const check = async (signal: AbortSignal): Promise<void> => {
    assert.notEqual(reason.trim(), "", "an excuse needs a reason");
    await runExcused?.(signal);
  };
  return { title: `${name} (excused: ${reason})`, run: check };
}
