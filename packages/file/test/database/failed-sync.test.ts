import { times } from "@bridge/tooling/long";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesIn, replay } from "@bridge/tooling/power-loss";
import { noSystemFaults, runProgram } from "@bridge/tooling/test-program";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adding, Notes, scratchFolder } from "./support/notes.ts";

const program = new URL("support/note-writer.ts", import.meta.url);
const WRITTEN = /^written (\S+)\n$/;
/** At so many moments after the sync has failed it is looked what a power loss leaves: half of them soon after. */
const LOOKS = 12;
const SOON = 40;

/** What is there after a power loss holds what was confirmed, and goes on. */
async function survives(files: ReadonlyMap<string, Buffer>, confirmed: readonly string[]): Promise<void> {
  using after = scratchFolder();
  for (const [name, bytes] of files) writeFileSync(join(after.folder, name), bytes);
  await using notes = new Notes({ path: after.path });
  expect(notes.ids()).toEqual(expect.arrayContaining([...confirmed]));
  expect(await notes.write(adding("next"))).toBe("next");
}

const someSync = fc.oneof(
  fc.record({ call: fc.constant("fdatasync"), when: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ call: fc.constant("fsync"), when: fc.integer({ min: 1, max: 12 }) }),
);

describe.skipIf(noSystemFaults)("a sync that fails once, and is good afterwards (needs strace)", () => {
  test("what is confirmed, before and after, survives a power loss at any moment", { timeout: 300_000 }, async () => {
    let failures = 0;
    await fc.assert(
      fc.asyncProperty(
        someSync,
        fc.integer({ min: 0, max: 60 }),
        fc.infiniteStream(fc.boolean()),
        fc.infiniteStream(fc.nat()),
        async ({ call, when }, there, lucky, picks) => {
          const luck = (): boolean => lucky.next().value === true;
          using scratch = scratchFolder();
          using notes = scratchFolder();
          const former: string[] = [];
          if (there > 0) {
            await using before = new Notes({ path: notes.path });
            for (let i = 0; i < there; i++) former.push(await before.write(adding(`former ${i}`, 1_000)));
          }
          const files = filesIn(notes.folder);
          const trace = join(scratch.folder, "trace");
          const fault = `${call}:error=EIO:when=${when}`;
          await runProgram({ program, args: [notes.path, "900", "60", "200"], fault, trace });
          const text = readFileSync(trace, "latin1");
          const moments = [...replay(text, notes.folder, files, luck)].filter(({ failed }) => failed > 0).length;
          if (moments > 0) failures++;
          const pick = (_: unknown, i: number): number =>
            (picks.next().value ?? 0) % Math.max(1, i % 2 === 0 ? Math.min(SOON, moments) : moments);
          const looks = new Set(Array.from({ length: LOOKS }, pick));
          let moment = 0;
          for (const { disk, said, failed } of replay(text, notes.folder, files, luck)) {
            if (failed === 0 || !looks.has(moment++)) continue;
            const confirmed = said.flatMap((line) => WRITTEN.exec(line)?.[1] ?? []);
            await survives(disk.afterPowerLoss(), [...former, ...confirmed]);
          }
        },
      ),
      { numRuns: times(8, 25), endOnFailure: true },
    );
    expect(failures, "runs in which a sync has failed").toBeGreaterThan(times(0, 10));
  });
});
