import { describeTransport, transportCases } from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { memoryHub } from "../src/index.ts";
import { memoryTransport } from "../src/memory-transport.ts";
import { CONTENT_MUTANTS } from "./content-mutants.ts";
import { memoryPlace } from "./memory-place.ts";
import { mutated } from "./mutant.ts";
import { SESSION_MUTANTS } from "./session-mutants.ts";
import { SOURCE_MUTANTS } from "./source-mutants.ts";
import { TARGET_MUTANTS } from "./target-mutants.ts";

const PATIENCE_MS = { hanging: 1_000, other: 20_000 } as const;

// The way in which mutants are made breaks nothing by itself.
const hubOfSound = memoryHub();
describeTransport("memory, as a mutant without a fault", {
  plugin: mutated(hubOfSound, {}),
  open: () => memoryPlace(hubOfSound, { session: true }),
});

test.concurrent.for([...CONTENT_MUTANTS, ...SOURCE_MUTANTS, ...TARGET_MUTANTS, ...SESSION_MUTANTS])(
  "a transport that $fault is caught",
  { timeout: 60_000 },
  async (mutant) => {
    const hub = memoryHub();
    const cases = transportCases({ plugin: mutated(hub, mutant), open: () => memoryPlace(hub, { session: true }) });
    const run = cases.find(({ name }) => name === mutant.caughtBy)?.run;
    const patienceMs = mutant.hangs === true ? PATIENCE_MS.hanging : PATIENCE_MS.other;
    using bound = deadline(systemClock, patienceMs, new Error("the case did not end"));
    await expect(run?.(bound.signal)).rejects.toBeInstanceOf(Error);
    expect(bound.signal.aborted).toBe(mutant.hangs === true);
  },
);

test.for([
  "source: receive counts grow",
  "source: a delivery that is released comes back",
  "source: a released delivery does not come back before its delay",
] as const)("a transport that is excused from '%s' and claims to do it is caught", async (name) => {
  const hub = memoryHub();
  const cases = transportCases({ plugin: memoryTransport(hub), open: () => memoryPlace(hub, { session: false }) });
  using bound = deadline(systemClock, PATIENCE_MS.other, new Error("the case did not end"));
  const excused = cases.find((entry) => entry.name === name)?.runExcused;
  await expect(excused?.(bound.signal)).rejects.toThrow(/claims to/);
});
