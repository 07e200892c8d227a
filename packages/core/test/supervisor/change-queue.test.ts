import type { BridgeConfig } from "@bridge/config";
import { expect, test } from "vitest";
import { ChangeQueue } from "../../src/supervisor/change-queue.ts";
import { OperationError } from "../../src/operation-error.ts";
import { GaveWay } from "../../src/supervisor/stops-waiting.ts";
import { Serial } from "@bridge/ports/internal";
import { FakeClock, turn } from "../support/fake-clock.ts";

const STRANDING = new OperationError("stranding", "the change would leave messages behind");

/** A queue of configurations by name, each of which ends when the test says how. */
function queue() {
  const [clock, root, requests] = [new FakeClock(), new AbortController(), new Serial()];
  const tried: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<"applied">>();
  const refused: unknown[] = [];
  let busy = false;
  const changes = new ChangeQueue({
    clock,
    requests,
    busy: () => busy,
    async change(config) {
      const { id } = config.bridge;
      tried.push(id);
      const end = Promise.withResolvers<"applied">();
      ends.set(id, end);
      busy = true;
      return end.promise.finally(() => (busy = false));
    },
    root: root.signal,
    refused: (error) => void refused.push(error),
  });
  const never = new AbortController().signal;
  return {
    clock,
    root,
    requests,
    tried,
    refused,
    apply: (config: string | BridgeConfig, signal = never) =>
      changes.apply(typeof config === "string" ? ({ bridge: { id: config } } as BridgeConfig) : config, signal),
    end: async (id: string, error?: Error): Promise<void> => {
      if (error === undefined) ends.get(id)?.resolve("applied");
      else ends.get(id)?.reject(error);
      for (let turns = 0; turns < 3; turns++) await turn();
    },
  };
}

/** The same, once "a" is in force; while it was being applied, these were accepted, one after another. */
async function afterFirst(...accepted: readonly (string | BridgeConfig)[]) {
  const stage = queue();
  const first = stage.apply("a");
  await turn();
  for (const config of accepted) expect(await stage.apply(config)).toBe("accepted");
  await stage.end("a");
  expect(await first).toBe("applied");
  return stage;
}

test("when the newest configuration fails, the one before it has its turn, unless a newer one waits: then that is tried", async () => {
  const { tried, apply, end } = await afterFirst("b", "c");
  expect(tried).toEqual(["a", "c"]);
  expect(await apply("d")).toBe("accepted");
  await end("c", new Error("c is bad"));
  expect(tried).toEqual(["a", "c", "d"]);
  await end("d");
  expect(tried).toEqual(["a", "c", "d"]);
});

test("when the newest fails and none waits, the one before it is brought into force, and the failure told until then", async () => {
  const { tried, refused, end } = await afterFirst("b", "c");
  const failure = new Error("c is bad");
  await end("c", failure);
  expect([tried, refused.at(-1)]).toEqual([["a", "c", "b"], failure]);
  await end("b");
  expect([tried, refused.at(-1)]).toEqual([["a", "c", "b"], undefined]);
});

test("one that was skipped has its turn also when several newer ones fail, one after another", async () => {
  const { tried, apply, end } = await afterFirst("b", "c");
  await apply("d");
  await end("c", new Error("c is bad"));
  await end("d", new Error("d is bad"));
  expect(tried).toEqual(["a", "c", "d", "b"]);
});

test("who waits behind another request, and behind whom a newer one comes, is told that theirs is accepted", async () => {
  const { requests, tried, apply, end } = queue();
  const before = Promise.withResolvers<void>();
  void requests.run(() => before.promise);
  const [older, newest] = [apply("b"), apply("c")];
  before.resolve();
  expect(await older).toBe("accepted");
  await turn();
  await end("c");
  expect([await newest, tried]).toEqual(["applied", ["c"]]);
});

test("a configuration that was given up while it waited is not brought into force later", async () => {
  const { requests, tried, apply, end } = queue();
  const before = Promise.withResolvers<void>();
  void requests.run(() => before.promise);
  const stop = new AbortController();
  const givenUp = apply("b", stop.signal);
  const newest = apply("c");
  stop.abort(new Error("its caller has gone"));
  await expect(givenUp).rejects.toThrow("its caller has gone");
  before.resolve();
  for (let turns = 0; turns < 3; turns++) await turn();
  const [failed] = await Promise.allSettled([newest, end("c", new Error("c is bad"))]);
  expect(failed).toMatchObject({ status: "rejected", reason: { message: "c is bad" } });
  expect(tried).toEqual(["c"]);
});

test("the newest one, given up while it waited, is not tried, and the one before it has its turn", async () => {
  const { requests, tried, apply, end } = await afterFirst("b");
  const before = Promise.withResolvers<void>();
  expect(tried).toEqual(["a", "b"]);
  void requests.run(() => before.promise);
  const [second, stop] = [apply("c"), new AbortController()];
  await end("b");
  const newest = apply("d", stop.signal);
  stop.abort(new Error("its caller has gone"));
  await expect(newest).rejects.toThrow("its caller has gone");
  before.resolve();
  for (let turns = 0; turns < 5; turns++) await turn();
  expect([await second, tried]).toEqual(["accepted", ["a", "b", "c"]]);
});

test("a caller that has gone before it asks changes nothing, also while another change is under way", async () => {
  const { tried, apply, end } = queue();
  const first = apply("a");
  await turn();
  await expect(apply("b", AbortSignal.abort(new Error("its caller has gone")))).rejects.toThrow("its caller has gone");
  await end("a");
  await first;
  expect(tried).toEqual(["a"]);
});

test("a change that gives way has its turn after what came before it", async () => {
  const { requests, tried, apply, end } = queue();
  const first = apply("a");
  await turn();
  const stopped = requests.run(async () => void tried.push("stop"));
  await end("a", new GaveWay());
  await stopped;
  await end("a");
  expect([await first, tried]).toEqual(["applied", ["a", "stop", "a"]]);
});

test("a change that gives way to a newer one is accepted, and has its turn when that fails", async () => {
  const { tried, apply, end } = queue();
  const first = apply("a");
  await turn();
  expect(await apply("b")).toBe("accepted");
  await end("a", new GaveWay());
  expect(await first).toBe("accepted");
  await end("b", new Error("b is bad"));
  expect(tried).toEqual(["a", "b", "a"]);
});

test("one that was accepted, and would leave messages behind, is tried again until it does not, or a newer one is brought", async () => {
  const { clock, tried, refused, apply, end } = await afterFirst("b");
  await end("b", STRANDING);
  expect([tried, refused]).toEqual([
    ["a", "b"],
    [undefined, STRANDING],
  ]);
  await clock.advance(5_000);
  await end("b", STRANDING);
  await clock.advance(5_000);
  expect(tried).toEqual(["a", "b", "b", "b"]);
  await end("b");
  expect(refused).toEqual([undefined, STRANDING, STRANDING, undefined]);
  await clock.advance(60_000);
  expect(tried).toHaveLength(4);

  void apply("c");
  await turn();
  expect(await apply("d")).toBe("accepted");
  await end("c");
  await end("d", STRANDING);
  void apply("e");
  await turn();
  await end("e");
  await clock.advance(60_000);
  expect(tried.slice(4)).toEqual(["c", "d", "e"]);
});

test("one that is accepted again while it waits to be tried again waits once", async () => {
  const same = { bridge: { id: "b" } } as BridgeConfig;
  const { clock, tried, apply, end } = await afterFirst(same);
  await end("b", STRANDING);
  const newer = apply("c");
  await turn();
  await apply(same);
  await Promise.all([expect(newer).rejects.toThrow("c is bad"), end("c", new Error("c is bad"))]);
  await end("b", STRANDING);
  expect(clock.pending).toBe(1);
  await clock.advance(5_000);
  await end("b");
  await clock.advance(60_000);
  expect(tried).toEqual(["a", "b", "c", "b", "b"]);
});

test("one that waits to be tried again goes on with that when a newer one fails", async () => {
  const { clock, tried, apply, end } = await afterFirst("b");
  await end("b", STRANDING);
  const newer = apply("c");
  await turn();
  await Promise.all([expect(newer).rejects.toThrow("c is bad"), end("c", new Error("c is bad"))]);
  await clock.advance(5_000);
  await end("b");
  expect(tried).toEqual(["a", "b", "c", "b"]);
});

test("one that was skipped, and would leave messages behind when it has its turn, is tried again", async () => {
  const { clock, tried, end } = await afterFirst("b", "c");
  await end("c", new Error("c is bad"));
  await end("b", STRANDING);
  await clock.advance(5_000);
  expect(tried).toEqual(["a", "c", "b", "b"]);
  await end("b");
});

test("while a newer one waits to be tried again, the one before it does not come into force, until that fails", async () => {
  const { clock, tried, end } = await afterFirst("b", "c");
  await end("c", STRANDING);
  await clock.advance(4_000);
  expect(tried).toEqual(["a", "c"]);
  await clock.advance(1_000);
  await end("c", new Error("c is bad"));
  expect(tried).toEqual(["a", "c", "c", "b"]);
  await end("b");
});

test("nothing is tried again after the abort", async () => {
  const { clock, root, tried, end } = await afterFirst("b");
  await end("b", STRANDING);
  root.abort(new Error("the process ends"));
  await clock.advance(60_000);
  expect([tried, clock.pending]).toEqual([["a", "b"], 0]);
});
