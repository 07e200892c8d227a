import { expect, test } from "vitest";
import { differences } from "../src/differences.ts";
import { draw } from "../src/draw.ts";
import type { Ended, Outcome } from "../src/outcome.ts";
import { runSimulated } from "../src/simulated/run-simulated.ts";

const scenario = { ...draw("test/1"), troubles: [{ kind: "kill" as const, at: 100, forMs: 0 }] };

function outcome(ended: Ended, more: Partial<Outcome> = {}): Outcome {
  return { ended: new Map([["0 b0", ended]]), atSource: [], faults: [], ...more };
}

const once: Ended = { places: ["delivered"], arrivals: 1 };

test("what ended in the same place, as often as the faults explain, does not differ", () => {
  expect(differences(scenario, outcome(once), outcome({ ...once, arrivals: 2 }))).toEqual([]);
});

test.each([
  ["another place", outcome({ places: ["dlq permanent FORBIDDEN"], arrivals: 0 }), "in the models"],
  ["nowhere", outcome({ places: [], arrivals: 0 }), "nowhere with the real parts"],
  ["in both", outcome({ places: ["dlq permanent FORBIDDEN", "delivered"], arrivals: 1 }), "delivered, dlq permanent"],
  ["more often than there is a cause", outcome({ ...once, arrivals: 3 }), "where 2 have a cause"],
  ["still at its source", outcome(once, { atSource: [0] }), "the source still has 0"],
  ["a fault", outcome(once, { faults: ["the bridge has ended by itself"] }), "ended by itself"],
])("tells of: %s", (_, real, words) => {
  const found = differences(scenario, outcome(once), real);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(words);
});

test("the models let each message of 12 scenarios end where the scenario says", { timeout: 300_000 }, async () => {
  for (let number = 1; number <= 12; number++) {
    const drawn = draw(`ends/${number}`);
    const { ended, atSource, faults } = await runSimulated(drawn, number);
    expect({ atSource, faults, name: drawn.name }).toEqual({ atSource: [], faults: [], name: drawn.name });
    for (const { number: message, refused } of drawn.messages)
      for (const [index, code] of refused.entries()) {
        const { places } = ended.get(`${message} b${index}`) ?? { places: ["unknown"] };
        const expected = code === undefined ? /^delivered$/ : drawn.drops ? /^$/ : new RegExp(`^dlq \\w+ ${code}$`);
        expect(places.join()).toMatch(expected);
      }
  }
});
