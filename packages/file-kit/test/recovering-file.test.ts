import { silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { FileFault } from "../src/file-fault.ts";
import { RecoveringFile } from "../src/recovering-file.ts";
import { NOTES, scratchFolder } from "./support/notes.ts";

test("finding 10.1: a file that failed is not opened again while somebody else in the process still has it", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const released = Promise.withResolvers<void>();
  const options = {
    kind: NOTES,
    onDamage: "refuse",
    prepare: () => ({}),
    clock: systemClock,
    logger: silentLogger,
  } as const;
  const file = new RecoveringFile(path, options, () => released.promise);
  const former = file.open();
  const fault = new FileFault(path, "failing");
  file.fail(fault);
  expect(() => file.open()).toThrow(fault);
  expect(file.isOpen(former)).toBe(false);
  released.resolve();
  await expect.poll(() => file.isOpen(file.open())).toBe(true);
  expect(file.failure).toBeUndefined();
  file.close();
});
