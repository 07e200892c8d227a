import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesIn, replay } from "@bridge/tooling/power-loss";
import { noSystemFaults, runProgram } from "@bridge/tooling/test-program";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyFiles } from "../../src/file/verify.ts";
import { files, ids, lines, scratch, writeAll } from "./support/scratch.ts";

const program = new URL("support/event-writer.ts", import.meta.url);
const WRITTEN = /^written (\S+)\n$/;
/** At so many moments after the sync has failed it is looked what a power loss leaves. */
const LOOKS = 8;

/** Cuts off what stands behind the last event that was confirmed: a power loss may have torn that. */
function upTo(folder: string, confirmed: ReadonlySet<string>): readonly string[] {
  const all = [...files(folder)];
  for (let file = all.at(-1); file !== undefined; file = all.at(-1)) {
    const whole = lines(file);
    const last = whole.findLastIndex((line) => [...confirmed].some((id) => line.includes(`"resource_id":"${id}"`)));
    writeFileSync(
      file,
      whole
        .slice(0, last + 1)
        .map((line) => `${line}\n`)
        .join(""),
    );
    if (last >= 0) break;
    all.pop();
  }
  return all;
}

describe.skipIf(noSystemFaults)("contract 6: a sync that fails once, and is good afterwards (needs strace)", () => {
  test(
    "leaves each event that was confirmed, and no hole in the chain before it, after a power loss",
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 8 }),
          fc.integer({ min: 0, max: 30 }),
          fc.infiniteStream(fc.boolean()),
          fc.infiniteStream(fc.nat()),
          async (when, there, lucky, picks) => {
            const luck = (): boolean => lucky.next().value === true;
            using traced = scratch();
            using audit = scratch();
            const former = Array.from({ length: there }, (_, i) => `former ${i}`);
            await writeAll(audit.path, former);
            const before = filesIn(audit.folder);
            const fault = `fdatasync:error=EIO:when=${when}`;
            await runProgram({ program, args: [audit.path, "400"], fault, trace: traced.path });
            const text = readFileSync(traced.path, "latin1");
            const moments = [...replay(text, audit.folder, before, luck)].filter(({ failed }) => failed > 0).length;
            const looks = new Set(
              Array.from({ length: LOOKS }, () => (picks.next().value ?? 0) % Math.max(1, moments)),
            );
            let moment = 0;
            for (const { disk, said, failed } of replay(text, audit.folder, before, luck)) {
              if (failed === 0 || !looks.has(moment++)) continue;
              using after = scratch();
              for (const [name, bytes] of disk.afterPowerLoss()) writeFileSync(join(after.folder, name), bytes);
              const confirmed = [...former, ...said.flatMap((line) => WRITTEN.exec(line)?.[1] ?? [])];
              const all = upTo(after.folder, new Set(confirmed));
              expect(all.flatMap(ids)).toEqual(expect.arrayContaining(confirmed));
              expect(await verifyFiles(all)).toMatchObject({ break: undefined, torn: undefined });
            }
          },
        ),
        { numRuns: 15, endOnFailure: true },
      );
    },
  );
});
