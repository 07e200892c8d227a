import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { type ConfigStore, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type BridgeConfig,
  type CommitTrial,
  type ConfigApplier,
  createConfigTransactions,
  type Stranded,
  type Stranding,
  strandingOf,
} from "../../src/index.ts";
import { TOUCHES_NOTHING } from "../support/change-plans.ts";
import { goodDocument, type Json, withValue } from "../support/documents.ts";
import { MemoryConfigStore } from "../support/memory-config-store.ts";
import { registry } from "../support/plugins.ts";

const NEVER = new AbortController().signal;
const MINUTES = 60_000;
const TRIAL = { withinMs: MINUTES };
const ROLES = ["outbox", "dlq"] as const;
const LEFT = strandingOf([{ store: "outbox", waiting: 3 }]);

/** With a store at that place. */
function documentAt(role: Stranded["store"], path: string, rest: Json = {}): Json {
  return withValue(
    `stores.${role}`,
    { type: "file", options: { path }, ...rest },
    { ...goodDocument(), config_version: 3 },
  );
}

type Asked = readonly [
  to: BridgeConfig["stores"],
  stored: BridgeConfig["stores"] | undefined,
  version: number | undefined,
];

/** An instance whose bridge is asked what a change would leave behind, and answers `strands`. */
function instance(instanceId: string, store: ConfigStore) {
  const clock = new ManualClock();
  const asked: Asked[] = [];
  const bridge: { strands?: Stranding; answer: "applied" | "accepted" } = { answer: "applied" };
  const applier: ConfigApplier = {
    apply: () => Promise.resolve(bridge.answer),
    stranding: (config, _, stored) => {
      asked.push([config.stores, stored?.stores, stored?.configVersion]);
      return Promise.resolve(bridge.strands);
    },
    beyondRecovery: () => false,
    plan: () => Promise.resolve(TOUCHES_NOTHING),
    trial: { running: () => true, reaches: () => true, sends: () => ({ sends: 0, failed: 0 }) },
  };
  const transactions = createConfigTransactions({
    store,
    registry,
    sources: { env: () => undefined, file: () => Promise.reject(new Error("it is not there")) },
    applier,
    instanceId,
    clock,
    random: systemRandom(),
    logger: silentLogger,
  });
  onTestFinished(() => transactions.suspend());
  const opened = async (document: Json): Promise<string> => {
    const { id } = await transactions.open(5 * MINUTES, NEVER);
    await transactions.replace(id, JSON.stringify(document), NEVER);
    return id;
  };
  const commit = async (document: Json, trial?: CommitTrial) =>
    transactions.commit(await opened(document), "alice", trial);
  return { transactions, asked, bridge, opened, commit };
}

type Instance = ReturnType<typeof instance>;

/** Two instances that share a document, whose store is at `here`. */
function stage(role: Stranded["store"]) {
  const held = new MemoryDocument(documentAt(role, "here"));
  const [a, b] = [instance("a", openMemoryConfig(held)), instance("b", openMemoryConfig(held))];
  return { held, a, b };
}

type Stage = ReturnType<typeof stage>;

/** How it comes that the store is stored as being elsewhere, and `b` has it here. */
const WAYS: readonly (readonly [string, (stage: Stage, elsewhere: Json) => Promise<unknown> | void])[] = [
  ["another hand has written it", ({ held }, elsewhere) => held.replace({ ...elsewhere, config_version: 4 })],
  ["another instance has committed it", ({ a }, elsewhere) => a.commit(elsewhere)],
  [
    "another instance has tried it out and confirmed it",
    async ({ a }, elsewhere) => {
      await a.commit(elsewhere, TRIAL);
      await a.transactions.confirm(4);
    },
  ],
  [
    "this one has committed it, and is to take it later",
    ({ b }, elsewhere) => {
      b.bridge.answer = "accepted";
      return b.commit(elsewhere);
    },
  ],
];

/** What an instance is asked that comes to know what a change would leave behind. */
const CALLS: readonly (readonly [string, (of: Instance, id: string) => Promise<unknown>])[] = [
  ["validate", async ({ transactions }, id) => (await transactions.validate(id, NEVER)).stranding],
  ["commit", async ({ transactions }, id) => strandingIn(await transactions.commit(id, "bob"))],
  [
    "a commit that is tried out",
    async ({ transactions }, id) => strandingIn(await transactions.commit(id, "bob", TRIAL)),
  ],
];

function strandingIn(result: Awaited<ReturnType<Instance["commit"]>>): Stranding | undefined {
  return result.status === "stranding" ? result.stranding : undefined;
}

const at = (path: string): unknown =>
  expect.objectContaining({ options: expect.objectContaining({ path }) as unknown });

describe.each(ROLES)("a change of the %s of a document that instances share", (role) => {
  describe.each(WAYS)("when %s", (_, happens) => {
    it.each(CALLS)("is held against what is stored, too, by %s", async (__, call) => {
      const of = stage(role);
      await happens(of, documentAt(role, "elsewhere"));
      const { held, b } = of;
      const before = held.state;
      const id = await b.opened(documentAt(role, "here"));
      b.asked.length = 0;
      b.bridge.strands = LEFT;
      expect(await call(b, id)).toEqual(LEFT);
      expect(b.asked).toEqual([
        [expect.objectContaining({ [role]: at("here") }), expect.objectContaining({ [role]: at("elsewhere") }), 4],
      ]);
      expect(held.state).toBe(before);
      expect(b.transactions.has(id)).toBe(true);
    });
  });

  it("is refused while another instance tries it out", async () => {
    const { a, b } = stage(role);
    await a.commit(documentAt(role, "elsewhere"), TRIAL);
    await expect(b.opened(documentAt(role, "a third"))).rejects.toMatchObject({
      kind: "conflict",
      reason: "probation",
    });
  });

  describe("when what is stored cannot be read here, and may be at another instance", () => {
    const unread = (document: Json): Json => withValue("sessions.0.options.password", "${env:SECRET}", document);
    const abandoning = { abandon_backlog: true };

    it.each([
      { what: "leaves the stored store", to: documentAt(role, "here"), has: {} },
      {
        what: "only still has the word that lets it leave the stored store",
        to: documentAt(role, "here", abandoning),
        has: abandoning,
      },
    ])("is refused when it $what: nobody here can tell what that holds", async ({ to, has }) => {
      for (const [, call] of CALLS) {
        const { held, b } = stage(role);
        held.replace(unread(documentAt(role, "elsewhere", has)));
        const before = held.state;
        const id = await b.opened(to);
        expect(await call(b, id)).toEqual(strandingOf([{ store: role, version: 3 }]));
        b.bridge.strands = LEFT;
        expect(await call(b, id)).toEqual(LEFT);
        expect(held.state).toBe(before);
      }
    });

    it.each([
      { what: "keeps the stored store", to: documentAt(role, "elsewhere") },
      { what: "brings the word that lets it leave the stored store", to: documentAt(role, "here", abandoning) },
    ])("passes when it $what", async ({ to }) => {
      const { held, b } = stage(role);
      held.replace(unread(documentAt(role, "elsewhere")));
      expect(await b.commit(to)).toEqual({ status: "committed", version: 4 });
    });
  });
});

describe("a change of a document that no other instance has", () => {
  it.each(CALLS.slice(0, 2))("is held against what runs alone, by %s", async (_, call) => {
    const store = new MemoryConfigStore(documentAt("outbox", "elsewhere"));
    const of = instance("a", store);
    const { id } = await of.transactions.open(5 * MINUTES, NEVER);
    await of.transactions.patch(id, { bridge: { log_level: "debug" } }, NEVER);
    await call(of, id);
    expect(of.asked).toEqual([[expect.anything(), undefined, undefined]]);
  });
});
