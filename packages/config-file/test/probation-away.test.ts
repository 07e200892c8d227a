import { existsSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { times } from "@bridge/tooling/long";
import fc from "fast-check";
import { expect, it } from "vitest";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const TRIED_FOR_S = 10;
/** What is found where the document was. */
const TEXTS = {
  broken: "broken: [",
  empty: "",
  "of no use": "bridge: {id: plant-9, drain_timeout: soon}\n",
  theirs: "bridge: {id: theirs}\n",
};
type Found = "tried" | "away" | keyof typeof TEXTS;

/** For a second each. */
const found = fc.constantFrom<Found>("tried", "tried", "away", "broken", "empty", "of no use");
const atLast = fc.constantFrom<Found>("tried", "theirs");

it(
  "operators 7: a document that is away, broken, empty or of no use meanwhile is nobody's: the former one runs when the time is up, and is stored when it can be",
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(found, { minLength: 1, maxLength: 14 }), atLast, async (seconds, last) => {
        using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-away-"));
        await using stage = trying(folder.path);
        const { path, clock, transactions, applied, reverted, logged, store } = stage;
        const former = readFileSync(path);
        const version = await stage.tryOut({ bridge: { id: "plant-8" } });
        const tried = readFileSync(path);
        const put = async (what: Found): Promise<void> => {
          if (what === "away") rmSync(path, { force: true });
          else writeFileSync(path, what === "tried" ? tried : TEXTS[what]);
          // So a watch tells it.
          await store.load(NEVER).catch(() => {});
        };
        const pass = async (): Promise<void> => {
          clock.advance(1_000);
          do {
            await transactions.underWay?.catch(() => {});
            await new Promise(setImmediate);
          } while (transactions.underWay !== undefined);
        };
        let takenBack = false;
        for (const [index, what] of seconds.entries()) {
          if (takenBack) break;
          await put(what);
          await pass();
          const timeIsUp = index + 1 >= TRIED_FOR_S;
          takenBack = timeIsUp && what === "tried";
          expect(applied.at(-1)?.configVersion).toBe(timeIsUp ? 0 : version);
          expect(transactions.probation()?.version).toBe(takenBack ? undefined : version);
          expect(existsSync(`${path}.probation`)).toBe(!takenBack);
        }
        const isOver = seconds.length >= TRIED_FOR_S;
        if (!takenBack) await put(last);
        if (isOver) await pass();
        if (isOver || last === "theirs") {
          const answer = await transactions.confirm(version).catch((error: { reason?: string }) => error.reason);
          expect(answer).toBe(last === "tried" || takenBack ? "reverted" : "no_probation");
        } else {
          await transactions.confirm(version);
        }
        const stands = readFileSync(path);
        if (!takenBack && last === "theirs") expect(stands.toString()).toContain("theirs");
        else expect(stands.equals(isOver ? former : tried)).toBe(true);
        expect(reverted).toHaveLength(takenBack || (isOver && last === "tried") ? 1 : 0);
        expect(existsSync(`${path}.probation`)).toBe(false);
        await transactions.suspend();
        expect(clock.ticking).toBe(0);
        // However long it takes, it is said once.
        expect(logged.filter((line) => line.includes("taken back") && line.includes("again")).length).toBeLessThan(3);
      }),
      { numRuns: times(25, 600) },
    );
  },
);
