import { copyFileSync, existsSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;

it("spec 4.9.8: a document that is removed while it is broken and taken back comes back by hand, as what is told has it, and is in the history as it will stay", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-gone-"));
  await using stage = trying(folder.path);
  const { path, clock, transactions, store } = stage;
  const pass = async (seconds: number): Promise<void> => {
    for (let n = 0; n < seconds; n++) {
      clock.advance(1_000);
      do {
        await transactions.underWay?.catch(() => {});
        await new Promise(setImmediate);
      } while (transactions.underWay !== undefined);
    }
  };
  const former = readFileSync(path);
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  const inHistory = [{ version, available: true, reverted: { why: "not_confirmed" } }];
  writeFileSync(path, "broken: [");
  await pass(10);
  expect(await transactions.history(NEVER)).toMatchObject(inHistory);
  rmSync(path);
  await pass(100);
  expect(await transactions.history(NEVER)).toMatchObject(inHistory);
  expect(transactions.withdrawn()).toMatch(
    /is not there: put the document in order, or put version 0 there again, out of the former versions$/,
  );
  copyFileSync(`${path}.versions/0.yaml`, path);
  await store.load(NEVER);
  await pass(1);
  expect([transactions.withdrawn(), transactions.probation(), existsSync(`${path}.probation`)]).toEqual([
    undefined,
    undefined,
    false,
  ]);
  expect(readFileSync(path).equals(former)).toBe(true);
  expect(await transactions.history(NEVER)).toMatchObject(inHistory);
});
