import { configStoreCases } from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";

test.for(MUTANTS)("a store that $fault is caught", async ({ subject, caughtBy }) => {
  const run = configStoreCases(subject).find(({ name }) => name === caughtBy)?.run;
  using bound = deadline(systemClock, 500, new Error("the case did not end"));
  await expect(run?.(bound.signal)).rejects.toBeInstanceOf(Error);
});
