import { PATIENCE } from "@bridge/tooling/patience";
import { configTable, openDynamodbConfig, createTable, DynamoClient } from "@bridge/dynamodb";
import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { silentLogger, type StoredConfig, systemClock, systemRandom } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { type Death, documentOf, Instance, type Shared } from "./support/cluster.ts";

const INSTANCES = 3;
const LEFT_BEHIND_MS = 5 * 60_000 + 1;
const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };

const dynamo = await testDynamo();
const client = new DynamoClient({ ...seams, sdk: dynamo.sdk });
await createTable(configTable("bridge-config"), client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await dynamo[Symbol.asyncDispose]();
});

/** A document, and what somebody does to it who knows nothing of stores. */
interface Place {
  readonly open: Shared["open"];
  readonly byHand: (id: string) => Promise<void>;
}

async function inMemory(first: string): Promise<Place> {
  const held = new MemoryDocument(documentOf(first));
  return { open: async () => openMemoryConfig(held), byHand: async (id) => held.replace(documentOf(id)) };
}

let places = 0;

async function inDynamodb(first: string): Promise<Place> {
  const document = `plant-${++places}`;
  const byHand = async (id: string): Promise<void> => {
    const item = {
      config_key: { S: document },
      part: { S: "document" },
      document: { S: JSON.stringify(documentOf(id)) },
    };
    await client.send(
      new PutItemCommand({ TableName: "bridge-config", Item: item }),
      AbortSignal.timeout(PATIENCE.timeout),
    );
  };
  await byHand(first);
  const options = {
    ...seams,
    sdk: dynamo.sdk,
    tableName: "bridge-config",
    document,
    watch: () => ({ pollIntervalMs: 25 }),
  };
  return { open: () => openDynamodbConfig(options, AbortSignal.timeout(PATIENCE.timeout)), byHand };
}

/** What comes from elsewhere. */
type Outside = "by hand" | "time passes";

type Step =
  | { readonly kind: "commit"; readonly by: number; readonly bad: boolean; readonly dies: Death | undefined }
  | { readonly kind: "race"; readonly bad: readonly boolean[]; readonly meanwhile: Outside | "nothing" }
  | { readonly kind: "by hand" | "time passes" }
  | { readonly kind: "restart" | "reload"; readonly by: number };

const instance = fc.nat(INSTANCES - 1);
const death = fc.constantFrom<(Death | undefined)[]>(
  undefined,
  undefined,
  "while applying",
  "before confirming",
  "after confirming",
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("commit" as const), by: instance, bad: fc.boolean(), dies: death }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("race" as const),
      bad: fc.array(fc.boolean(), { minLength: INSTANCES, maxLength: INSTANCES }),
      meanwhile: fc.constantFrom<(Outside | "nothing")[]>("by hand", "time passes", "nothing"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("by hand" as const, "time passes" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "reload" as const), by: instance }) },
);

/** Plays `steps`; rejects when an instance runs what it must not, or they do not agree in the end. */
async function play(place: Place, steps: readonly Step[], pauses: Iterator<number>): Promise<void> {
  const pause = async (): Promise<void> => {
    for (let turns = pauses.next().value as number; turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const shared: Shared = { open: place.open, forward: 0, released: new Set(["first"]), faults: [], pause };
  const start = (index: number): Promise<Instance> => Instance.start(`plant-7-${index}`, shared);
  const instances = await Promise.all(Array.from({ length: INSTANCES }, (_, i) => start(i)));
  const rolledBack: string[] = [];
  let ids = 0;

  async function commit(index: number, bad: boolean, dies?: Death): Promise<void> {
    const id = `${bad ? "bad" : "good"}-${++ids}`;
    const outcome = await instances[index]?.commit(id, dies);
    if (outcome === "rolled_back") rolledBack.push(id);
    if (outcome === "committed") expect(shared.released).toContain(id);
    if (bad) expect(["rolled_back", "conflict", "refused", "died"]).toContain(outcome);
    if (outcome === "died") {
      await instances[index]?.kill();
      instances[index] = await start(index);
    }
  }

  async function outside(kind: Outside | "nothing"): Promise<void> {
    if (kind === "time passes") shared.forward += LEFT_BEHIND_MS;
    if (kind !== "by hand") return;
    const id = `hand-${++ids}`;
    shared.released.add(id);
    await place.byHand(id);
  }

  /** Somewhere in the middle of what goes on. */
  async function meanwhile(kind: Outside | "nothing"): Promise<void> {
    for (let i = 0; i < 10; i++) await pause();
    await outside(kind);
  }

  /** All of them run it. */
  async function agreed(id: string): Promise<void> {
    const running = () => instances.map(({ ran }) => ran.at(-1));
    await expect.poll(running, { timeout: 20_000, interval: 2 }).toEqual(instances.map(() => id));
  }

  try {
    for (const each of steps) {
      switch (each.kind) {
        case "commit":
          await commit(each.by, each.bad, each.dies);
          break;
        case "race":
          await Promise.all([...each.bad.map((bad, index) => commit(index, bad)), meanwhile(each.meanwhile)]);
          break;
        case "by hand":
        case "time passes":
          await outside(each.kind);
          break;
        case "restart":
          await instances[each.by]?.kill();
          instances[each.by] = await start(each.by);
          break;
        case "reload":
          instances[each.by]?.reload();
          break;
      }
    }
    await using store = await place.open();
    const stored = await store.load(new AbortController().signal);
    await agreed(idOf(stored));
    expect(rolledBack.filter((each) => shared.released.has(each))).toEqual([]);
    // A crash in a commit leaves nothing that would keep the next one from being done, after a while.
    shared.forward += LEFT_BEHIND_MS;
    await commit(0, false);
    await agreed(`good-${ids}`);
    expect(shared.faults).toEqual([]);
  } finally {
    for (const each of instances) await each.kill();
  }
}

function idOf(stored: StoredConfig | undefined): string {
  return String((stored?.document["bridge"] as { readonly id?: unknown } | undefined)?.id);
}

const pauses = fc.infiniteStream(fc.nat(3));

// oxlint-disable-next-line vitest/expect-expect -- each play asserts
test("whatever instances commit, undo, die of and are overtaken by: nobody runs what was not confirmed, and all end up alike", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), pauses, async (steps, stream) =>
      play(await inMemory("first"), steps, stream),
    ),
    { numRuns: 50 },
  );
});

// oxlint-disable-next-line vitest/expect-expect -- each play asserts
test("the same on DynamoDB", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), pauses, async (steps, stream) =>
      play(await inDynamodb("first"), steps, stream),
    ),
    { numRuns: 3 },
  );
});
