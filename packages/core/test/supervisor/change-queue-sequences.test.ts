import type { BridgeConfig } from "@bridge/config";
import { Serial } from "@bridge/ports/internal";
import { times } from "@bridge/tooling/long";
import fc from "fast-check";
import { expect, test } from "vitest";
import { OperationError } from "../../src/operation-error.ts";
import { ChangeQueue } from "../../src/supervisor/change-queue.ts";
import { GaveWay } from "../../src/supervisor/stops-waiting.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

type End = "taken" | "stranding" | "bad" | "gives way";

/** What may come to a queue. `same`: how many configurations before, one of which is given again; 0: a new one. */
type Step =
  | { readonly kind: "give"; readonly busy: boolean; readonly same: number }
  | { readonly kind: "end"; readonly how: End }
  | { readonly kind: "leave"; readonly caller: number }
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "other request" | "its end" | "abort" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("give"), busy: fc.boolean(), same: fc.nat(2) } as const),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("end"),
      how: fc.constantFrom<End>("stranding", "stranding", "taken", "bad", "gives way"),
    } as const),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(1_000, 5_000, 12_000) } as const),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave"), caller: fc.nat(5) } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("other request", "its end") } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("its end", "abort") } as const) },
);

interface Given {
  readonly config: BridgeConfig;
  readonly leave: AbortController;
  outcome: "pending" | "accepted" | "applied" | "rejected";
  /** It may have come to nothing after it was accepted. */
  mayBeOver: boolean;
}

class World {
  readonly clock = new FakeClock();
  readonly root = new AbortController();
  readonly given: Given[] = [];
  readonly #requests = new Serial();
  readonly #queue: ChangeQueue;
  #busy = false;
  #trying: { readonly config: BridgeConfig; readonly end: PromiseWithResolvers<"applied"> } | undefined;
  #others: PromiseWithResolvers<void>[] = [];
  /** The last that was taken. */
  taken: BridgeConfig | undefined;
  /** What the queue has done that it must not. */
  readonly faults: string[] = [];
  /** How often something was tried. */
  tries = 0;

  constructor() {
    this.#queue = new ChangeQueue({
      clock: this.clock,
      requests: this.#requests,
      busy: () => this.#busy,
      change: (config, signal) => this.#change(config, signal),
      root: this.root.signal,
      refused: () => {},
    });
  }

  async #change(config: BridgeConfig, signal: AbortSignal): Promise<"applied"> {
    if (this.#trying !== undefined) this.faults.push("two at a time");
    if (this.taken !== undefined && this.#lastOf(config) < this.#firstOf(this.taken))
      this.faults.push("something older than what was taken is tried");
    this.tries++;
    const end = Promise.withResolvers<"applied">();
    this.#trying = { config, end };
    signal.addEventListener("abort", () => end.reject(signal.reason), { once: true });
    try {
      const answer = await end.promise;
      this.taken = config;
      return answer;
    } finally {
      this.#trying = undefined;
    }
  }

  #lastOf(config: BridgeConfig): number {
    return this.given.findLastIndex((each) => each.config === config);
  }

  #firstOf(config: BridgeConfig): number {
    return this.given.findIndex((each) => each.config === config);
  }

  give(busy: boolean, same: number): void {
    const config = (same > 0 ? this.given.at(-same)?.config : undefined) ?? ({} as BridgeConfig);
    const given: Given = { config, leave: new AbortController(), outcome: "pending", mayBeOver: false };
    this.given.push(given);
    this.#busy = busy;
    void this.#queue.apply(config, given.leave.signal).then(
      (answer) => (given.outcome = answer),
      () => (given.outcome = "rejected"),
    );
    this.#busy = false;
  }

  end(how: End): boolean {
    const trying = this.#trying;
    if (trying === undefined) return false;
    if (how === "taken") trying.end.resolve("applied");
    else if (how === "gives way") trying.end.reject(new GaveWay());
    else if (how === "stranding") trying.end.reject(new OperationError("stranding", "messages would be left"));
    else {
      for (const each of this.given) each.mayBeOver ||= each.config === trying.config;
      trying.end.reject(new Error("it is bad"));
    }
    return true;
  }

  otherRequest(): void {
    const other = Promise.withResolvers<void>();
    this.#others.push(other);
    void this.#requests.run(() => other.promise);
  }

  endOther(): void {
    this.#others.shift()?.resolve();
  }

  async does(next: Step): Promise<void> {
    switch (next.kind) {
      case "give":
        this.give(next.busy, next.same);
        break;
      case "end":
        this.end(next.how);
        break;
      case "leave":
        this.given.at(-1 - next.caller)?.leave.abort(new Error("its caller has gone"));
        break;
      case "time":
        await this.clock.advance(next.ms);
        break;
      case "other request":
        this.otherRequest();
        break;
      case "its end":
        this.endOther();
        break;
      case "abort":
        this.root.abort(new Error("the process ends"));
        break;
    }
    for (let turns = 0; turns < 4; turns++) await turn();
  }

  /** From now on all that is tried is taken. */
  async goesWell(): Promise<void> {
    for (let rounds = 0; rounds < 5 + this.given.length; rounds++) {
      await this.does({ kind: "its end" });
      await this.does({ kind: "end", how: "taken" });
    }
  }
}

test("whatever comes in whatever order: one wait to be tried again at most, the newest given wins, nothing older is tried after it, and nobody waits for ever", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new World();
      for (const each of steps) {
        await world.does(each);
        expect(world.clock.pending, "waits to be tried again").toBeLessThanOrEqual(world.root.signal.aborted ? 0 : 1);
      }
      await world.goesWell();
      expect(world.given.map(({ outcome }) => outcome)).not.toContain("pending");
      const { tries } = world;
      for (let waits = 0; waits < 3; waits++) {
        await world.does({ kind: "time", ms: 5_000 });
        await world.goesWell();
      }
      expect(world.clock.pending).toBe(0);
      expect(world.faults).toEqual([]);
      const newest = world.given.at(-1);
      if (world.root.signal.aborted) expect(world.tries).toBe(tries);
      else if (newest !== undefined && newest.outcome !== "rejected" && !newest.mayBeOver)
        expect(world.taken === newest.config, "the newest is in force").toBe(true);
    }),
    { numRuns: times(150, 3_000) },
  );
});
