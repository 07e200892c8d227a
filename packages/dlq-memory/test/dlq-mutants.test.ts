import { dlqStoreCases } from "@bridge/conformance";
import { type DlqStore, systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { openMemoryDlq } from "../src/index.ts";
import { DELETING_MUTANTS } from "./deleting-mutants.ts";
import { READING_MUTANTS } from "./reading-mutants.ts";

test.for([...READING_MUTANTS, ...DELETING_MUTANTS])(
  "a store that $fault is caught",
  async ({ mutate, reopen, caughtBy }) => {
    const open = async (): Promise<DlqStore> => {
      const store = openMemoryDlq({ maxEntries: 2_000 });
      return { ...store, ...mutate?.(store) };
    };
    const run = dlqStoreCases({ open, ...(reopen && { reopen }) }).find(({ name }) => name === caughtBy)?.run;
    using bound = deadline(systemClock, 10_000, new Error("the case did not end"));
    await expect(run?.(bound.signal)).rejects.toBeInstanceOf(Error);
    expect(bound.signal.aborted).toBe(false);
  },
);
