import type { BridgeConfig, Stranded } from "@bridge/config";
import { openMemoryOutbox } from "@bridge/memory";
import { type OutboxRecord, type OutboxStore, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge } from "../support/memory-bridge.ts";
import { movedTo, without } from "../support/moved-to.ts";
import { withRoute } from "../support/two-routes.ts";

type Change = (config: BridgeConfig) => BridgeConfig;
type Role = Stranded["store"];

const VERSION = 7;
const ROLES = ["outbox", "dlq"] as const;

const abandoning =
  (role: Role): Change =>
  (config) => ({ ...config, abandonBacklog: [role] });
const both =
  (...changes: readonly Change[]): Change =>
  (config) =>
    changes.reduce((before, change) => change(before), config);
const renamed: Change = (config) => withRoute(config, "r", (route) => ({ ...route, id: "other" }));
const asIs: Change = (config) => config;

/** How far a bridge is that does not run what is stored. */
const STANDINGS: readonly (readonly [string, (bridge: MemoryBridge, stored: BridgeConfig) => Promise<void>])[] = [
  ["runs another", async ({ supervisor }) => supervisor.start(bound())],
  [
    "takes it at its next start",
    async ({ supervisor }, stored) => {
      await supervisor.start(bound());
      await supervisor.stop(bound());
      expect(await supervisor.apply(stored, bound())).toBe("accepted");
    },
  ],
  ["has never started", async () => {}],
];

/** From what is stored, of which the store has another place than the open one. */
const LEAVING: readonly {
  readonly what: string;
  readonly to: (role: Role) => Change;
  readonly has?: (role: Role) => Change;
}[] = [
  { what: "takes the open store", to: () => asIs },
  { what: "takes a third store", to: (role) => movedTo(role, "a third") },
  { what: "takes no store", to: without },
  { what: "only still has the word that lets it leave the stored store", to: abandoning, has: abandoning },
];

const STAYING: readonly (readonly [string, (role: Role) => Change])[] = [
  ["keeps the stored store", (role) => movedTo(role, "elsewhere")],
  ["brings the word that lets it leave the stored store", abandoning],
];

async function standing(
  role: Role,
  stands: (typeof STANDINGS)[number][1],
  of: Change = asIs,
): Promise<Pick<MemoryBridge, "supervisor" | "config"> & { readonly stored: BridgeConfig }> {
  const clock = new FakeClock();
  const bridge = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox: async () => outboxOn(clock) });
  const { supervisor, config } = bridge;
  const stored = both(movedTo(role, "elsewhere"), of)({ ...config, configVersion: VERSION });
  await stands(bridge, stored);
  return { supervisor, config, stored };
}

function outboxOn(clock: FakeClock): OutboxStore {
  return openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
}

describe.each(ROLES)("a change of what is stored, which has its %s elsewhere than the bridge", (role) => {
  describe.each(STANDINGS)("that %s", (_, stands) => {
    test.each(LEAVING)(
      "is refused when it $what: nobody here can tell what the stored one holds",
      async ({ to, has }) => {
        const { supervisor, config, stored } = await standing(role, stands, has?.(role));
        const stranding = await supervisor.stranding(to(role)(config), bound(), stored);
        expect(stranding?.stranded).toEqual([{ store: role, version: VERSION }]);
        expect(stranding?.message).toContain("of the stored version 7 holds, which is not open here");
        expect(stranding?.message).toContain("at an instance that runs version 7, or when this one does");
        expect(stranding?.message).toContain(`stores.${role}.abandon_backlog: true`);
        await supervisor.shutdown();
      },
    );

    test.each(STAYING)("passes when it %s", async (__, to) => {
      const { supervisor, config, stored } = await standing(role, stands);
      expect(await supervisor.stranding(to(role)(config), bound(), stored)).toBeUndefined();
      await supervisor.shutdown();
    });
  });

  test("passes once the bridge runs it, which is refused for nothing: the store is open then, and empty", async () => {
    const { supervisor, config, stored } = await standing(role, async ({ supervisor: own }) => own.start(bound()));
    expect(await supervisor.apply(stored, bound())).toBe("applied");
    expect(await supervisor.stranding(config, bound(), stored)).toBeUndefined();
    await supervisor.shutdown();
  });
});

describe("a change of what is stored, which has its outbox elsewhere", () => {
  test("is refused when a route goes whose records may wait there", async () => {
    const { supervisor, stored } = await standing("outbox", async ({ supervisor: own }) => own.start(bound()));
    const stranding = await supervisor.stranding(renamed(stored), bound(), stored);
    expect(stranding?.stranded).toEqual([{ store: "outbox", version: VERSION }]);
    await supervisor.shutdown();
  });
});

describe("a change of what is stored, which has other routes on the open outbox", () => {
  const record: OutboxRecord = {
    id: "l1",
    routeId: "other",
    bindingId: "out",
    address: "out",
    envelope: envelopeOf({ id: "m" }),
    payloadDigest: "d",
    createdAt: 0,
  };

  test.each([
    { waits: "nothing", records: [], stranded: undefined },
    {
      waits: "a record",
      records: [record],
      stranded: [{ store: "outbox", routeId: "other", bindingId: "out", waiting: 1 }],
    },
  ])("is answered by the outbox when $waits waits of a route that goes", async ({ records, stranded }) => {
    const clock = new FakeClock();
    const outbox = outboxOn(clock);
    await outbox.persist(records, bound());
    const { supervisor, config } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox });
    await supervisor.start(bound());
    const told = supervisor.stranding(config, bound(), renamed({ ...config, configVersion: VERSION }));
    const over = new AbortController();
    const done = told.finally(() => over.abort());
    while (!over.signal.aborted) await clock.advance(100);
    expect((await done)?.stranded).toEqual(stranded);
    await supervisor.shutdown();
  });
});
