import { describeTransport, type Excuses, type TransportCaseName } from "@bridge/conformance";
import type { TransportPlugin } from "@bridge/ports";
import type { BrokerHabits } from "../src/plan/plan.ts";
import { SuiteWorld } from "./support/suite-world.ts";

const NO_COUNT = "it does not count how often it hands a message out";
const NO_RELEASE = "it takes no message back";
const NO_MAPPING = "the model hands on what it is given, and maps no headers";
const ON_LOAN = "it comes when its loan is over, and younger messages are handed out meanwhile";

const holding: Excuses<TransportCaseName> = {
  "source: a delivery that is released comes back": NO_RELEASE,
  "source: a released delivery does not come back before its delay": NO_RELEASE,
};

/** Long enough for a client to say several times that it still works. */
const LOAN_MS = 400;

/** Sources as a plan may draw them, after the real ones. */
const SOURCES: readonly (readonly [
  name: string,
  habits: Omit<BrokerHabits, "latencyMs">,
  Excuses<TransportCaseName>,
])[] = [
  ["a quorum queue", { confirms: false, releasable: true, counts: true }, {}],
  [
    "a classic queue",
    { confirms: false, releasable: false, counts: false },
    { ...holding, "source: receive counts grow": NO_COUNT },
  ],
  [
    "a queue that tells late what it takes back",
    { confirms: false, releasable: false, counts: false, tellsAfterMs: 50 },
    { ...holding, "source: receive counts grow": NO_COUNT },
  ],
  [
    "a session that is resumed",
    { confirms: false, releasable: false, counts: false, resumes: true },
    { ...holding, "source: receive counts grow": NO_COUNT },
  ],
  [
    "a stream that lends",
    { confirms: true, releasable: true, counts: true, loanMs: LOAN_MS },
    { "source: what the end of its process leaves unsettled comes back in its order": ON_LOAN },
  ],
];

for (const [name, habits, except] of SOURCES) {
  const world = new SuiteWorld({ latencyMs: 2, ...habits });
  const { sender: _, ...receiving } = of(world, "simulated");
  describeTransport(`of the simulation, ${name}`, { plugin: receiving, except, open: async () => world.place(false) });
}

for (const linked of [false, true]) {
  const world = new SuiteWorld({ latencyMs: 2, confirms: false, releasable: true, counts: true });
  const { type, session, sender } = of(world, linked ? "linked" : "simulated");
  describeTransport(`of the simulation, a target ${linked ? "on a session" : "without a session"}`, {
    plugin: { type, ...(linked && session !== undefined && { session }), ...(sender !== undefined && { sender }) },
    except: { "target: reserved headers stay behind, but for the causation id": NO_MAPPING },
    open: async () => world.place(linked),
  });
}

function of({ plugins }: SuiteWorld, type: string): TransportPlugin {
  const plugin = plugins.get(type);
  if (plugin === undefined) throw new Error(`there is no ${type}`);
  return plugin;
}
