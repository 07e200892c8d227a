import { openMemoryDlq } from "@bridge/dlq-memory";
import type { BridgeConfig } from "@bridge/config";
import type { DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { type Instance, level, type Pair, pair, role } from "../lease/pair.ts";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

/** Longer than it takes to look whether what is read is still for another instance. */
const MEANWHILE_MS = 2_000;

/** The messages come over a session that every instance has, and are sent over one that one has at a time. */
function overAQueue(config: BridgeConfig): BridgeConfig {
  return {
    ...config,
    sessions: [...config.sessions, { id: "q", transport: "memory", sessionMode: "persistent", options: {} }],
    receivers: config.receivers.map((part) => ({ ...part, sessionId: "q" })),
  };
}

/** A second route of the same kind, which sends without a session at first. */
function withAnother(config: BridgeConfig): BridgeConfig {
  const [receiver, sender, binding, route] = [
    config.receivers[0]!,
    config.senders[0]!,
    config.bindings[0]!,
    config.routes[0]!,
  ];
  return {
    ...config,
    sessions: [...config.sessions, { id: "q2", transport: "memory", sessionMode: "persistent", options: {} }],
    receivers: [receiver, { ...receiver, id: "in2", sessionId: "q2" }],
    senders: [sender, { ...sender, id: "out2", sessionId: undefined }],
    bindings: [binding, { ...binding, id: "out2", senderId: "out2", sessionId: undefined, address: "out2" }],
    routes: [
      route,
      { ...route, id: "r2", receiverId: "in2", bindings: ["out2"], resolver: { type: "static", bindings: ["out2"] } },
    ],
  };
}

function asksFor({ supervisor }: Instance, sessionId: string): readonly [boolean, number] {
  const session = supervisor.view().sessions.find((each) => each.sessionId === sessionId);
  return [session?.connected === true, session?.subscriptionsActive ?? -1];
}

/** A pair whose stores of dead letters do not tell what they hold while `held` is set. */
async function slowly(): Promise<Pair & { readonly held: { until?: Promise<void> } }> {
  const held: { until?: Promise<void> } = {};
  const dlq = async (): Promise<DlqStore> => {
    const store = openMemoryDlq({ maxEntries: 10 });
    return {
      ...store,
      async count(cap, signal) {
        if (supervisors.some((each) => each.state().kind === "swapping")) await held.until;
        return store.count(cap, signal);
      },
    };
  };
  const stage = await pair({ dlq, config: overAQueue });
  const supervisors = [stage.b.supervisor];
  return { ...stage, held };
}

test.each([
  ["stays connected", false, 0],
  ["has connected anew meanwhile", true, 1],
])(
  "a standby whose routes are replaced asks for nothing that only the holder of the lease may send, afterwards either: one that %s",
  async (_, cut, meanwhile) => {
    await using stage = await slowly();
    const { hub, clock, a, b, held } = stage;
    await clock.until(() => level(a) === "full");
    expect([role(b), asksFor(b, "q")]).toEqual(["standby", [true, 0]]);
    const gate = Promise.withResolvers<void>();
    held.until = gate.promise;
    const stores = { ...b.config.stores, dlq: { ...b.config.stores.dlq!, options: { other: true } } };
    const applied = b.supervisor.apply({ ...b.config, stores }, bound());
    await clock.until(() => b.supervisor.state().kind === "swapping");
    if (cut) hub.link("plant-b q", "source").cut();
    await clock.advance(MEANWHILE_MS);
    expect(asksFor(b, "q")).toEqual([true, meanwhile]);
    gate.resolve();
    expect(await applied).toBe("applied");
    await clock.advance(MEANWHILE_MS);
    await turn();
    expect([role(b), asksFor(b, "q")]).toEqual(["standby", [true, 0]]);
  },
);

test("a standby whose route is to send under the lease from now on asks for nothing more", async () => {
  await using stage = await pair({ config: (config) => withAnother(overAQueue(config)) });
  const { hub, clock, b } = stage;
  await clock.until(() => asksFor(b, "q2")[1] === 1);
  const bindings = b.config.bindings.map((part) => (part.id === "out2" ? { ...part, sessionId: "s" } : part));
  const applied = b.supervisor.apply({ ...b.config, bindings }, bound());
  let over = false;
  void applied.then(() => (over = true));
  await clock.until(() => over);
  await clock.advance(MEANWHILE_MS);
  await turn();
  expect([role(b), asksFor(b, "q2"), hub.link("plant-b q2", "source").connections]).toEqual(["standby", [true, 0], 2]);
});

test("a standby asks a source for everything as soon as one of its routes may send, and nothing of another source", async () => {
  const shared = (config: BridgeConfig): BridgeConfig => {
    const both = withAnother(overAQueue(config));
    const receiver = both.receivers[1]!;
    return {
      ...both,
      receivers: [...both.receivers, { ...receiver, id: "in3", sessionId: "q2" }],
      routes: [...both.routes, { ...both.routes[0]!, id: "r3", receiverId: "in3" }],
    };
  };
  await using stage = await pair({ config: shared });
  const { clock, a, b } = stage;
  await clock.until(() => level(a) === "full" && asksFor(b, "q2")[0] && asksFor(b, "q")[0]);
  await clock.advance(MEANWHILE_MS);
  expect([role(b), asksFor(b, "q"), asksFor(b, "q2")]).toEqual(["standby", [true, 0], [true, 1]]);
});
