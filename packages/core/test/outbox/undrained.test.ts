import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type LogFields, type OutboxStore, silentLogger, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { warnOfUndrained } from "../../src/outbox/undrained.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** What is found of an outbox that is asked by `backlog`, and what is told. */
async function asked(backlog: OutboxStore["backlog"], signal = bound(), clock = new BoundingClock()) {
  const told: unknown[] = [];
  const warn = (_: string, fields?: LogFields): void => void told.push(fields);
  const itself = { clock: new FakeClock(), random: systemRandom() };
  const store = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, ...itself });
  const { config } = memoryBridge({ deliveryMode: "shared_outbox" });
  const logger = { ...silentLogger, warn };
  return { undrained: await warnOfUndrained({ ...store, backlog }, config, { clock, logger }, signal), told };
}

test("records of a route or a binding that is not configured are told of, and no others", async () => {
  const lines = [
    ["r", "out"],
    ["r", "former"],
    ["former", "out"],
  ].map(([routeId = "", bindingId = ""], depth) => ({ routeId, bindingId, depth, oldestAt: undefined }));
  const { undrained, told } = await asked(async () => lines as never);
  expect(undrained).toEqual(lines.slice(1));
  expect(told).toEqual([
    { route_id: "r", binding_id: "former", records: 1 },
    { route_id: "former", binding_id: "out", records: 2 },
  ]);
});

test("an outbox that cannot be asked is told of, unless it is only that the bridge goes", async () => {
  const away = () => Promise.reject(new BridgeError("CONNECTION_LOST", "the server is away"));
  expect(await asked(away)).toEqual({
    undrained: [],
    told: [{ code: "CONNECTION_LOST", error: "the server is away" }],
  });
  expect(await asked(away, AbortSignal.abort())).toEqual({ undrained: [], told: [] });
});

const silent = () => new Promise<never>(() => {});

test("an outbox that does not count within 30 s is told of", async () => {
  const clock = new BoundingClock();
  let answer: unknown;
  void asked(silent, bound(), clock).then((told) => (answer = told));
  await clock.advance(29_999);
  expect(answer).toBeUndefined();
  await clock.advance(1);
  expect(answer).toEqual({ undrained: [], told: [{ code: "TIMEOUT", error: "the outbox store did not answer" }] });
});

test("nothing waits for an outbox that counts when the bridge goes, and nothing is told", async () => {
  const gone = new AbortController();
  const clock = new BoundingClock();
  const answer = asked(silent, gone.signal, clock);
  gone.abort(new Error("stopped"));
  expect(await answer).toEqual({ undrained: [], told: [] });
  expect(clock.pending).toBe(0);
});
