import { setImmediate as turn } from "node:timers/promises";
import { orAborted } from "@bridge/ports/internal";
import { memory } from "@bridge/transport-memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type DefinedBridge, defineBridge, type Supervisor } from "../../src/index.ts";
import { bound, dlq } from "./support.ts";

/** What is done to a bridge, and how long until the next: none waits for the one before. */
const step = fc.record({
  do: fc.constantFrom("start", "run", "stop", "shutdown", "dispose", "abort"),
  microtasks: fc.nat(8),
  turns: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8) }),
});
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** A program that uses a bridge without waiting for anything. */
class Program {
  readonly inside = memory();
  readonly bridge: DefinedBridge = defineBridge({
    id: "copy",
    stores: { dlq },
    routes: { copy: { from: this.inside.channel("in"), to: this.inside.at("out") } },
  });
  readonly calls: Promise<unknown>[] = [];
  readonly runCalls: Promise<unknown>[] = [];
  /** What was called last. `undefined`: how it ends depends on how far an aborted call had come. */
  ends: "running" | "stopped" | "over" | undefined = "over";
  #published = 0;
  #supervisor: Supervisor | undefined;
  #last: AbortController | undefined;

  do(what: Step["do"]): void {
    if (what === "start" || what === "run") return this.#begin(what);
    if (what === "abort") return this.#abort();
    // A supervisor that is shut down has no part in the bridge that is begun after it.
    const supervisor = this.#supervisor?.ending.aborted === false ? this.#supervisor : undefined;
    if (supervisor === undefined) return;
    if (what === "stop") this.calls.push(quiet(supervisor.stop()));
    else this.calls.push(quiet(what === "shutdown" ? supervisor.shutdown() : supervisor[Symbol.asyncDispose]()));
    this.ends = what === "stop" ? "stopped" : "over";
  }

  publish(): void {
    this.inside.hub.publish("in", { id: String(++this.#published), payload: "x" });
  }

  async delivers(): Promise<void> {
    this.publish();
    await this.inside.hub.channel("out").waitForMessages(this.#published, bound());
  }

  /** How many messages come through for one more, which is none when nothing runs. */
  async comesThrough(): Promise<number> {
    const before = this.inside.hub.channel("out").messages().length;
    this.publish();
    for (let i = 0; i < 10; i++) await turn();
    return this.inside.hub.channel("out").messages().length - before;
  }

  #begin(call: "start" | "run"): void {
    this.#last = new AbortController();
    const { signal } = this.#last;
    this.ends = "running";
    if (call === "run") this.runCalls.push(quiet(this.bridge.run({ signal })));
    else this.calls.push(quiet(this.bridge.start({ signal }).then((supervisor) => (this.#supervisor = supervisor))));
  }

  #abort(): void {
    if (this.#last === undefined || this.#last.signal.aborted) return;
    this.#last.abort(new Error("enough"));
    this.ends = undefined;
  }
}

test("embedding: what is called last wins, every call settles, and nothing is delivered after the last shutdown", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 12 }), async (isStarted, steps) => {
      const program = new Program();
      if (isStarted) {
        program.do("start");
        await all(program.calls);
      }
      for (const { do: what, microtasks, turns } of steps) {
        program.do(what);
        for (let i = 0; i < microtasks; i++) await Promise.resolve();
        for (let i = 0; i < turns; i++) await turn();
      }
      await all(program.calls);
      if (program.ends === "over") await all(program.runCalls);
      if (program.ends === "running") await program.delivers();
      else if (program.ends !== undefined) expect(await program.comesThrough()).toBe(0);
      const last = await program.bridge.start({ signal: bound() });
      await program.delivers();
      await last.shutdown();
      await all(program.runCalls);
      expect(await program.comesThrough()).toBe(0);
    }),
    { numRuns: 60 },
  );
});

const all = (calls: readonly Promise<unknown>[]): Promise<unknown> => orAborted(Promise.all(calls), bound());
const quiet = (call: PromiseLike<unknown>): Promise<unknown> => Promise.resolve(call).catch(() => {});
