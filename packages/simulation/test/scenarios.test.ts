import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { draw, parseScenario, runPlan, runSeed, scenarioText } from "../src/index.ts";

const FOLDER = new URL("../scenarios/", import.meta.url);

test.each(readdirSync(FOLDER).filter((name) => name.endsWith(".json")))(
  "scenario %s holds",
  { timeout: 60_000 },
  async (name) => {
    const { what, plan } = parseScenario(readFileSync(new URL(name, FOLDER), "utf8"));
    expect(what).toMatch(/^[A-Z].*[.]$/);
    const { violations, trace } = await runPlan(plan, true);
    expect({ violations, trace: violations.length > 0 ? trace : [] }).toEqual({ violations: [], trace: [] });
  },
);

test("a plan that was written and read again runs as before", async () => {
  const { plan, what } = parseScenario(scenarioText({ what: "Nothing.", plan: draw(3) }));
  expect(what).toBe("Nothing.");
  expect((await runPlan(plan)).digest).toBe((await runSeed(3)).digest);
});

test.each(["{}", '{"what":"x"}', '{"what":"x","plan":{"seed":1,"messages":[{"number":1,"at":0}],"faults":[]}}', "x"])(
  "%s is no scenario",
  (text) => {
    expect(() => parseScenario(text)).toThrow(/JSON|a scenario has/);
  },
);
