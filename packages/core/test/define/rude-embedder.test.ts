import { memoryOutbox } from "@bridge/memory";
import { openMemoryDlq } from "@bridge/dlq-memory";
import type { DlqStorePlugin, TransportMaker, TransportPlugin } from "@bridge/ports";
import { memory } from "@bridge/transport-memory";
import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import { type DefinedBridge, defineBridge, OperationError, type Supervisor } from "../../src/index.ts";
import { whenAborted } from "../../src/when-aborted.ts";
import { turn } from "../support/fake-clock.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/** How long may take what nobody holds up any more: it is over in some turns, or never. */
const ENOUGH_MS = 20_000;
/** After so many turns nothing is on its way any more that could be told to end otherwise. */
const QUIET_TURNS = 500;

/** One thing that a program does to its bridge, and how long until the next: it waits for nothing before. */
const deed = fc.record({
  do: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom("start" as const, "start for a while" as const, "run for a while" as const),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom("run" as const, "give up" as const, "stop" as const, "start what there is" as const),
    },
    { weight: 2, arbitrary: fc.constantFrom("shutdown" as const, "dispose" as const, "inject" as const) },
    { weight: 1, arbitrary: fc.constantFrom("SIGTERM" as const, "SIGINT" as const, "fail an open" as const) },
  ),
  turns: fc.nat(8),
});

test("whatever a program does to its bridge: each call ends, works or says why not, and nothing stays open", async () => {
  const listeners = SIGNALS.map((name) => process.listenerCount(name));
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 20 }), fc.nat(4), async (deeds, slowness) => {
      const play = new Play(slowness);
      for (const { do: what, turns } of deeds) {
        play.does(what);
        for (let i = 0; i < turns; i++) await turn();
      }
      await play.ends();
      expect(play.mistakes).toEqual([]);
      expect(play.open).toEqual([]);
      expect(SIGNALS.map((name) => process.listenerCount(name))).toEqual(listeners);
    }),
    { numRuns: 60 },
  );
}, 120_000);

type Deed = (typeof deed extends fc.Arbitrary<infer T> ? T : never)["do"];

/** A program with one bridge, which keeps every promise that it is given. */
class Play {
  readonly mistakes: string[] = [];
  /** What is open now. */
  readonly open: string[] = [];
  readonly #slowness: number;
  readonly #bridge: DefinedBridge;
  readonly #supervisors = new Set<Supervisor>();
  readonly #pending = new Set<string>();
  /** Of calls that may be given up, the youngest last. */
  readonly #patience: AbortController[] = [];
  /** Why a `run` ended, which is the end of every start that is under way. */
  readonly #ends = new Set<unknown>();
  #failOpens = 0;
  #calls = 0;

  constructor(slowness: number) {
    this.#slowness = slowness;
    const inside = memory();
    this.#bridge = defineBridge({
      id: "rude",
      stores: {
        dlq: { kind: "store", plugin: this.#store(), options: {} },
        outbox: memoryOutbox({ acknowledge_volatile: true }),
      },
      routes: {
        held: { from: { kind: "receiver", transport: this.#transport(), options: {} }, to: inside.at("out") },
        kept: { from: inside.channel("in"), to: inside.at("out"), delivery_mode: "shared_outbox" },
      },
    });
  }

  does(what: Deed): void {
    const supervisor = [...this.#supervisors].at(-1);
    switch (what) {
      case "start":
        return this.#starts(undefined);
      case "start for a while":
        return this.#starts(this.#patient());
      case "run":
        return this.#asks("run", this.#bridge.run(), undefined);
      case "run for a while": {
        const { signal } = this.#patient();
        signal.addEventListener("abort", () => this.#ends.add(signal.reason));
        return this.#asks("run", this.#bridge.run({ signal }), undefined);
      }
      case "give up":
        return this.#patience.pop()?.abort(new Error(`no patience ${++this.#calls}`));
      case "SIGTERM":
      case "SIGINT":
        // Without one that runs it would be a signal for the tests.
        if (process.listenerCount(what) > 0) process.emit(what, what);
        return;
      case "fail an open":
        this.#failOpens++;
        return;
      case "start what there is":
        return this.#asks(what, supervisor?.start(), undefined);
      case "stop":
        return this.#asks(what, supervisor?.stop(), undefined);
      case "shutdown":
        return this.#asks(what, supervisor?.shutdown(), undefined);
      case "dispose":
        return this.#asks(what, supervisor?.[Symbol.asyncDispose](), undefined);
      case "inject":
        this.#asks("inject", supervisor?.inject("held", { payload: "x" }), undefined);
        return this.#asks("inject", supervisor?.inject("kept", { payload: "x" }), undefined);
    }
  }

  /**
   * Whatever runs is shut down by the program, or is told to end when only a `run` knows it; then what has been asked has to end
   * by itself.
   */
  async ends(): Promise<void> {
    const begun = performance.now();
    const told = new Set<Supervisor>();
    for (let turns = 1; this.#pending.size > 0 && performance.now() - begun < ENOUGH_MS; turns++) {
      for (const supervisor of this.#supervisors) {
        if (told.has(supervisor)) continue;
        told.add(supervisor);
        this.#asks("shutdown", supervisor.shutdown(), undefined);
      }
      if (turns % QUIET_TURNS === 0 && this.open.length > 0) this.does("SIGTERM");
      await turn();
    }
    this.mistakes.push(...Array.from(this.#pending, (call) => `${call} never ended`));
    await Promise.allSettled([...this.#supervisors].map((supervisor) => supervisor.shutdown()));
  }

  #patient(): AbortController {
    const patience = new AbortController();
    this.#patience.push(patience);
    return patience;
  }

  #starts(patience: AbortController | undefined): void {
    const started = this.#bridge.start(patience === undefined ? {} : { signal: patience.signal });
    this.#asks(
      "start",
      started.then((supervisor) => this.#supervisors.add(supervisor)),
      patience?.signal,
    );
  }

  /** It ends as it should: it works, is given up by its own caller, or says in an error of ours why it cannot. */
  #asks(what: string, call: PromiseLike<unknown> | undefined, own: AbortSignal | undefined): void {
    if (call === undefined) return;
    const name = `${what} ${++this.#calls}`;
    this.#pending.add(name);
    Promise.resolve(call)
      .catch((error: unknown) => {
        if (own?.aborted === true && error === own.reason) return;
        if (error instanceof OperationError || this.#ends.has(error)) return;
        if (error instanceof Error && /^the process was told to end by SIG(TERM|INT)$/.test(error.message)) return;
        this.mistakes.push(`${name}: ${String(error)}`);
      })
      .finally(() => this.#pending.delete(name));
  }

  async #opens(what: string, signal: AbortSignal): Promise<void> {
    for (let i = 0; i < this.#slowness; i++) await turn();
    signal.throwIfAborted();
    this.open.push(what);
  }

  async #closes(what: string): Promise<void> {
    for (let i = 0; i < this.#slowness; i++) await turn();
    const at = this.open.indexOf(what);
    if (at >= 0) this.open.splice(at, 1);
  }

  #store(): DlqStorePlugin {
    return {
      type: "counted",
      reach: "instance",
      options: v.strictObject({}),
      create: () => async (signal) => {
        const name = `store ${++this.#calls}`;
        await this.#opens(name, signal);
        return Object.assign(openMemoryDlq({ maxEntries: 100 }), { [Symbol.asyncDispose]: () => this.#closes(name) });
      },
    };
  }

  #transport(): TransportMaker {
    const receiver: TransportPlugin["receiver"] = {
      needsSession: false,
      topics: "refused",
      redelivers: "always",
      options: v.strictObject({}),
      create: () => {
        const name = `receiver ${++this.#calls}`;
        return {
          open: async (signal: AbortSignal) => {
            await this.#opens(name, signal);
            if (this.#failOpens === 0) return;
            this.#failOpens--;
            throw new Error("taken");
          },
          // oxlint-disable-next-line require-yield
          receive: async function* (signal: AbortSignal) {
            await whenAborted(signal);
          },
          [Symbol.asyncDispose]: () => this.#closes(name),
        };
      },
    };
    return { type: "counted", plugin: () => ({ type: "counted", receiver }) };
  }
}
