import type { Receiver, TransportPlugin } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { ImpatientClock } from "../support/impatient-clock.ts";
import { manyRoutes } from "../support/many-routes.ts";
import { bound, type MemoryBridge } from "../support/memory-bridge.ts";
import { withWindow } from "../support/two-routes.ts";

const NONE = { made: 0, opened: 0, read: 0, closed: 0, discarded: 0 };
type Kind = keyof typeof NONE;

/** What is done with receivers, and how much of it in one turn at most. */
class Turns implements Disposable {
  readonly most = { ...NONE };
  readonly #now = { ...NONE };
  #turn: NodeJS.Immediate | undefined;

  count(what: Kind): void {
    this.most[what] = Math.max(this.most[what], ++this.#now[what]);
    this.#turn ??= setImmediate(() => {
      Object.assign(this.#now, NONE);
      this.#turn = undefined;
    });
  }

  begin(): void {
    Object.assign(this.most, NONE);
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#turn);
  }
}

/** The memory transport whose receivers are counted. */
function counted({ receiver, ...memory }: TransportPlugin, turns: Turns): TransportPlugin {
  if (receiver === undefined) throw new Error("no receivers");
  const create: typeof receiver.create = (options, context): Receiver => {
    const part = receiver.create(options, context);
    let isOpen = false;
    turns.count("made");
    return {
      async open(signal) {
        await part.open?.(signal);
        isOpen = true;
        turns.count("opened");
      },
      receive: (...args) => {
        turns.count("read");
        return part.receive(...args);
      },
      async [Symbol.asyncDispose]() {
        turns.count(isOpen ? "closed" : "discarded");
        await part[Symbol.asyncDispose]();
      },
    };
  };
  return { ...memory, type: "counted", receiver: { ...receiver, create } };
}

function countedBridge(count: number, turns: Turns): MemoryBridge {
  return manyRoutes(count, {
    clock: new ImpatientClock(),
    quiesceTimeoutMs: 5_000,
    drainTimeoutMs: 60_000,
    transports: (memory) => [counted(memory, turns)],
    config: (config) => ({
      ...config,
      receivers: config.receivers.map((part) => ({ ...part, transport: "counted" })),
    }),
  });
}

const FEW = 3;

describe("finding 5.7: what runs is changed in slices", () => {
  test("a start, a change of all routes and a stop each do a few of them in one turn", async () => {
    using turns = new Turns();
    const { clock, supervisor, config } = countedBridge(60, turns);
    const fewOf = (...kinds: readonly Kind[]): void => {
      expect(kinds.filter((kind) => turns.most[kind] === 0 || turns.most[kind] > FEW)).toEqual([]);
      turns.begin();
    };
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    fewOf("made", "opened", "read");
    expect((await supervisor.plan(withWindow(config, "r0", 7), bound())).routes.restarted).toHaveLength(60);
    expect(await supervisor.apply(withWindow(config, "r0", 7), bound())).toBe("applied");
    await clock.until(() => supervisor.view().level === "full");
    fewOf("made", "opened", "read", "closed");
    await supervisor.stop(bound());
    fewOf("closed");
    await supervisor.shutdown();
  });

  test("whatever comes between two slices of a change: nothing is lost, and nothing is left open", async () => {
    const between = fc.record({
      turns: fc.nat(120),
      what: fc.constantFrom("shutdown" as const, "stop" as const, "apply" as const, "inject" as const),
    });
    await fc.assert(
      fc.asyncProperty(between, async ({ turns: wait, what }) => {
        using turns = new Turns();
        const all = { ...NONE };
        turns.count = (kind) => void all[kind]++;
        const count = 6;
        const { hub, clock, supervisor, config } = countedBridge(count, turns);
        await supervisor.start(bound());
        await clock.until(() => supervisor.view().level === "full");
        const publish = (id: string): void => {
          for (let index = 0; index < count; index++) hub.publish(`in${index}`, { id: `${index}-${id}` });
        };
        publish("before");
        const applied = supervisor.apply(withWindow(config, "r0", 7), bound()).catch(() => "refused");
        for (let index = 0; index < wait; index++) await turn();
        publish("between");
        const asked = {
          shutdown: () => supervisor.shutdown(),
          stop: () => supervisor.stop(bound()),
          apply: () => supervisor.apply(withWindow(config, "r1", 9), bound()),
          inject: () => supervisor.inject("r2", { subject: "s", payload: "x" }, { signal: bound() }).catch(() => {}),
        };
        await Promise.all([asked[what](), applied]);
        const goesOn = what === "apply" || what === "inject";
        if (goesOn)
          await clock.until(() => supervisor.view().level === "full" && supervisor.state().kind === "running");
        expect(supervisor.stats().unaccounted).toBe(0);
        for (let index = 0; index < count; index++) {
          const [from, to] = [hub.channel(`in${index}`), hub.channel(`out${index}`)];
          if (goesOn) await clock.until(() => from.accepted === 2);
          const there = [...from.messages(), ...to.messages()].map(({ id }) => id);
          for (const id of ["before", "between"]) expect(there).toContain(`${index}-${id}`);
          expect(from.unsettled).toBe(0);
        }
        await supervisor.shutdown();
        expect([all.closed, clock.pending]).toEqual([all.opened, 0]);
      }),
      { numRuns: 40 },
    );
  });

  test("a change that its caller gives up while its parts are built ends those that are", async () => {
    for (const built of [1, 10, 19]) {
      using turns = new Turns();
      const all = { ...NONE };
      turns.count = (kind) => void all[kind]++;
      const { clock, supervisor, config } = countedBridge(20, turns);
      await supervisor.start(bound());
      await clock.until(() => supervisor.view().level === "full");
      const caller = new AbortController();
      const applied = supervisor.apply(withWindow(config, "r0", 7), caller.signal);
      for (let waited = 0; waited < 1_000 && all.made < 20 + built; waited++) await turn();
      caller.abort(new Error("no patience"));
      await expect(applied).rejects.toThrow("no patience");
      expect([all.discarded, all.closed]).toEqual([all.made - 20, 0]);
      expect(supervisor.view().level).toBe("full");
      await supervisor.shutdown();
      expect(all.closed).toBe(20);
    }
  });
});
