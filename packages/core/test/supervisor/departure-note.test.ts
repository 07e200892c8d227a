import type { BridgeConfig } from "@bridge/config";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, type StoredConfig, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { unfinishedDeparture } from "../../src/index.ts";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";

const stored = (version: number): StoredConfig => ({ version, revision: `r${version}`, document: {} });

/** The same with its outbox in this place, which outlasts a process. */
const at =
  (place: string, version: number) =>
  (config: BridgeConfig): BridgeConfig => ({
    ...config,
    configVersion: version,
    stored: stored(version),
    stores: { ...config.stores, outbox: { type: "test", reach: "instance", options: { place } } },
  });

/** A bridge with its outbox in `here`, and all that its document and its outbox were asked for. */
function stage() {
  const events: string[] = [];
  const faults: { open?: Error; forget?: Error } = {};
  const note = (event: string): void => void events.push(event);
  const kept: { version?: number | undefined } = {};
  const departures = {
    async remember({ version }: StoredConfig) {
      if (kept.version !== version) note(`remember ${version}`);
      kept.version = version;
    },
    async forget() {
      if (faults.forget !== undefined) throw faults.forget;
      note("forget");
      kept.version = undefined;
    },
    async *find() {},
  };
  const outbox = async (): Promise<OutboxStore> => {
    note("open");
    if (faults.open !== undefined) throw faults.open;
    return openMemoryOutbox({ maxRecords: 100, retentionMs: 1_000, clock: bridge.clock, random: systemRandom() });
  };
  const bridge = memoryBridge({
    deliveryMode: "shared_outbox",
    policy: { maxReplayAttempts: 1_000 },
    config: at("here", 1),
    outbox,
    departures,
  });
  const { supervisor, config, clock, hub } = bridge;
  return { supervisor, config, clock, hub, events, faults, kept };
}

async function whileTimePasses<T>({ clock }: ReturnType<typeof stage>, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const done = work.finally(() => over.abort());
  done.catch(() => {});
  while (!over.signal.aborted) await clock.advance(100);
  return done;
}

describe("spec 4.9.5: what a change leaves is remembered", () => {
  test("before it is stored, and until nothing waits there: before the new store is opened", async () => {
    const { supervisor, config, events } = stage();
    await supervisor.start(bound());
    events.length = 0;
    const next = at("there", 2)(config);
    await supervisor.announce(next);
    expect(events).toEqual(["remember 1"]);
    expect(await supervisor.apply(next, bound())).toBe("applied");
    expect(events).toEqual(["remember 1", "forget", "open"]);
    await supervisor.shutdown();
  });

  test("again, before the former store is opened again, when the change cannot be made, until it is stored no more", async () => {
    const { supervisor, config, events, faults } = stage();
    await supervisor.start(bound());
    events.length = 0;
    const next = at("there", 2)(config);
    const withdraw = await supervisor.announce(next);
    faults.open = new BridgeError("INVALID_PAYLOAD", "it is damaged");
    await expect(supervisor.apply(next, bound())).rejects.toThrow("damaged");
    expect(events.slice(0, 5)).toEqual(["remember 1", "forget", "open", "remember 1", "open"]);
    await withdraw();
    expect(events.at(-1)).toBe("forget");
    await supervisor.shutdown();
  });

  test("for as long as what is stored would leave messages behind, and not when it is changed to what would not", async () => {
    const here = stage();
    const { supervisor, config, events, hub } = here;
    hub.channel("out").sends.failNext(1_000, outage);
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    events.length = 0;
    const next = at("there", 2)(config);
    await expect(whileTimePasses(here, supervisor.apply(next, bound()))).rejects.toMatchObject({ kind: "stranding" });
    await expect(whileTimePasses(here, supervisor.apply(next, bound()))).rejects.toMatchObject({ kind: "stranding" });
    expect(events).toEqual(["remember 1"]);
    // It is stored only when this is done: a start until then needs what is remembered.
    await supervisor.announce(at("here", 3)(config));
    expect(events).toEqual(["remember 1"]);
    await supervisor.apply(at("here", 3)(config), bound());
    expect(events).toEqual(["remember 1", "forget"]);
    await supervisor.shutdown();
  });

  test("the change is not made when what is remembered cannot be forgotten", async () => {
    const { supervisor, config, faults } = stage();
    await supervisor.start(bound());
    faults.forget = new Error("the folder is read-only");
    await expect(supervisor.apply(at("there", 2)(config), bound())).rejects.toThrow("the folder is read-only");
    expect(supervisor.config().configVersion).toBe(1);
    expect(supervisor.view().state).toBe("running");
    await supervisor.shutdown();
  });

  test("while the bridge is paused, until it starts with what is stored", async () => {
    const { supervisor, config, events } = stage();
    await supervisor.start(bound());
    await supervisor.stop(bound());
    events.length = 0;
    expect(await supervisor.apply(at("there", 2)(config), bound())).toBe("accepted");
    expect(events).toEqual(["remember 1"]);
    await supervisor.start(bound());
    expect(events).toEqual(["remember 1", "open", "forget"]);
    await supervisor.shutdown();
  });

  test("again when another process has taken it away before the change is made", async () => {
    const { supervisor, config, events, kept } = stage();
    await supervisor.start(bound());
    events.length = 0;
    await supervisor.announce(at("there", 2)(config));
    kept.version = undefined;
    await supervisor.apply(at("there", 2)(config), bound());
    expect(events).toEqual(["remember 1", "remember 1", "forget", "open"]);
    await supervisor.shutdown();
  });

  test("as a newer change that is stored meanwhile has it", async () => {
    const { supervisor, config, events } = stage();
    await supervisor.start(bound());
    events.length = 0;
    const first = supervisor.apply(at("there", 2)(config), bound());
    await supervisor.announce(at("here", 3)(config));
    await first;
    expect(events).toEqual(["remember 2", "open"]);
    await supervisor.apply(at("here", 3)(config), bound());
    expect(events.slice(2)).toEqual(["forget", "open"]);
    await supervisor.shutdown();
  });
});

describe("spec 4.9.5: a start finds what the process before was leaving", () => {
  const config = at("here", 1)(memoryBridge({ deliveryMode: "shared_outbox" }).config);
  const departures = (found: StoredConfig | undefined) => {
    const forgotten: true[] = [];
    return {
      forgotten,
      remember: async () => {},
      async *find() {
        if (found !== undefined) yield found;
      },
      forget: async () => void forgotten.push(true),
    };
  };

  test("and runs it when what is stored has other stores; else it forgets it", async () => {
    const found = departures(stored(1));
    const check = async (): Promise<BridgeConfig> => ({ ...config, stored: undefined }) as unknown as BridgeConfig;
    const left = await unfinishedDeparture(found, at("there", 2)(config), check, bound());
    expect(left).toMatchObject({ former: stored(1), config: { configVersion: 1, stored: stored(1) } });
    expect(found.forgotten).toEqual([]);
    expect(await unfinishedDeparture(found, at("here", 2)(config), check, bound())).toBeUndefined();
    expect(found.forgotten).toEqual([true]);
  });

  test("and leaves alone what another process that runs is leaving, which has stores of its own", async () => {
    const found = departures({ ...stored(1), places: { outbox: "0123456789abcdef" } });
    const check = async (): Promise<BridgeConfig> => config;
    const starts = (isElsewhere: boolean) => {
      const beside = { ...found, elsewhere: async () => isElsewhere };
      return unfinishedDeparture(beside, at("there", 2)(config), check, bound());
    };
    expect(await starts(true)).toBeUndefined();
    expect(JSON.stringify(await starts(false))).toContain("another place here and now");
    expect(found.forgotten).toEqual([]);
  });

  test("and leaves alone what is elsewhere, though both documents lead to one place here", async () => {
    const found = departures({ ...stored(1), places: { outbox: "0123456789abcdef" } });
    const check = async (): Promise<BridgeConfig> => at("here", 1)(config);
    const left = await unfinishedDeparture(found, at("here", 2)(config), check, bound());
    expect([left, found.forgotten]).toMatchObject([{ elsewhere: true }, []]);
  });

  test("and leaves alone what cannot be run here, and another process is leaving", async () => {
    const found = { ...departures(stored(1)), elsewhere: async () => true };
    const check = (): Promise<BridgeConfig> => Promise.reject(new Error("the secret is gone"));
    expect(await unfinishedDeparture(found, at("there", 2)(config), check, bound())).toBeUndefined();
    expect(found.forgotten).toEqual([]);
  });

  test("and says why it cannot be run", async () => {
    const found = departures(stored(1));
    const check = (): Promise<BridgeConfig> => Promise.reject(new Error("the secret is gone"));
    expect(await unfinishedDeparture(found, at("there", 2)(config), check, bound())).toEqual({
      former: stored(1),
      why: "the secret is gone",
    });
    expect(found.forgotten).toEqual([]);
    expect(await unfinishedDeparture(departures(undefined), config, check, bound())).toBeUndefined();
  });
});
