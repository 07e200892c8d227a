import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { LONG, rows } from "@bridge/tooling/long";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CopyOfSources, copyOfSources } from "../src/known-bugs/copy-of-sources.ts";
import { hunt } from "../src/known-bugs/hunt.ts";
import { knownBugs, putBack, takeOut } from "../src/known-bugs/known-bug.ts";

const bugs = await knownBugs();
/** Found within a few seeds. */
const QUICK = new Set(["settled-before-the-send", "refusal-taken-for-acceptance"]);

test("each known bug can be put back, says what it is, and can be taken out", { timeout: 300_000 }, async () => {
  await using copy = await copyOfSources("simulation");
  for (const bug of bugs) {
    expect(bug.what).toMatch(/^[A-Z].*[.]$/);
    await putBack(bug, copy.folder);
    await takeOut(bug, copy.folder);
  }
});

test.each(
  rows(
    bugs.filter(({ lacks }) => lacks === undefined),
    ({ name }) => QUICK.has(name),
  ),
)("the simulation finds: $what", { timeout: 3_600_000 }, async (bug) => {
  await using copy = await copyOfSources("simulation");
  await putBack(bug, copy.folder);
  const { violation } = await hunt({ folder: copy.folder, seeds: LONG ? 20_000 : 200, from: 1 });
  expect(violation).toBeDefined();
});

describe("a scenario", () => {
  let copy: CopyOfSources;
  beforeAll(async () => void (copy = await copyOfSources("simulation")));
  afterAll(() => copy[Symbol.asyncDispose]());

  // Without the bug it holds, as all scenarios do.
  test.each(bugs.filter(({ scenario }) => scenario !== undefined))(
    "$scenario finds: $what",
    { timeout: 300_000 },
    async (bug) => {
      const main = join(copy.folder, "packages/simulation/src/main.ts");
      const scenario = fileURLToPath(new URL(`../scenarios/${bug.scenario}.json`, import.meta.url));
      await putBack(bug, copy.folder);
      const args = ["--conditions=@bridge/source", main, "--scenario", scenario];
      const { status, stdout } = spawnSync(execPath, args, { encoding: "utf8" });
      await takeOut(bug, copy.folder);
      expect({ status, told: stdout }).toEqual({ status: 1, told: expect.stringContaining("VIOLATED") as string });
    },
  );
});

test("the copy of the sources is sound: nothing is found in it", { timeout: 300_000 }, async () => {
  await using copy = await copyOfSources("simulation");
  expect(await hunt({ folder: copy.folder, seeds: 5, from: 1 })).toEqual({ seeds: 5 });
});
