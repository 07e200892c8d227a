import { BridgeError, type Envelope, type Processor, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { runProcessor } from "../../src/route/run-processor.ts";
import { Strays } from "../../src/route/strays.ts";
import { Surprises } from "../../src/route/surprises.ts";
import { envelopeOf } from "../support/envelope.ts";
import { HastyClock } from "../support/hasty-clock.ts";

const TIMEOUT_MS = 1_000;

function stage(process: Processor["process"]) {
  const clock = new HastyClock();
  const lines: (object | undefined)[] = [];
  const logger = { ...silentLogger, error: (_: string, fields?: object) => void lines.push(fields) };
  const strays = new Strays(clock);
  const named = { id: "p", processor: { process }, strays };
  const stop = new AbortController();
  const envelope = envelopeOf({ id: "m1" });
  const run = (): Promise<Envelope | BridgeError> =>
    runProcessor(clock, named, envelope, TIMEOUT_MS, stop.signal, new Surprises(logger, clock));
  return { clock, lines, strays, stop, envelope, run };
}

/** How many calls go on that were given up: the hundred that are too many, less those that are missing. */
function open(strays: Strays): number {
  let missing = 0;
  while (!strays.full) {
    strays.add();
    missing++;
  }
  for (let added = 0; added < missing; added++) strays.ended();
  return 100 - missing;
}

test("the envelope that a processor was given goes on as it is; another one is read and kept apart", async () => {
  const same = stage((envelope) => ({ kind: "pass", envelope }));
  expect(await same.run()).toBe(same.envelope);
  const other = envelopeOf({ id: "m1", headers: { Upper: "1" } });
  const passed = await stage(() => ({ kind: "pass", envelope: other })).run();
  expect(passed).not.toBe(other);
  expect(passed).toMatchObject({ id: "m1", headers: { upper: "1" } });
});

test("why a message was filtered out is told with the processor's name, and is no surprise", async () => {
  const { run, lines } = stage(() => ({ kind: "filter", reason: "not an alarm" }));
  expect(await run()).toMatchObject({ code: "MESSAGE_FILTERED", message: "processor p: not an alarm" });
  expect(lines).toEqual([]);
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a text", "pass"],
  ["another kind", { kind: "drop", reason: "not an alarm" }],
  ["a filter without a reason", { kind: "filter", reason: 5 }],
])("an answer that is none is the processor's failure, and is logged: %s", async (_, answer) => {
  const { run, lines, strays } = stage(() => answer as never);
  expect(await run()).toMatchObject({ code: "INTERNAL", message: "processor p: did not answer with a result" });
  expect(lines).toMatchObject([{ where: "processor p", envelope_id: "m1" }]);
  expect(open(strays)).toBe(0);
});

test("an error that a processor has classified decides what becomes of the message, under its name", async () => {
  const cause = new BridgeError("THROTTLED", "too many", { retryAfterMs: 7, charged: false });
  const { run, lines, strays } = stage(() => Promise.reject(cause));
  expect(await run()).toMatchObject({
    code: "THROTTLED",
    message: "processor p: too many",
    retryAfterMs: 7,
    charged: false,
    cause,
  });
  expect(lines).toEqual([]);
  expect(open(strays)).toBe(0);
});

test("one that throws at once has failed like one that rejects, whoever hears of it", async () => {
  const rude: Processor["process"] = () => {
    throw new Error("rude");
  };
  const { clock, run, lines, strays, stop, envelope } = stage(rude);
  const failure = { code: "INTERNAL", message: "processor p: rude" };
  expect(await run()).toMatchObject(failure);
  expect(lines).toMatchObject([{ where: "processor p", error: "rude" }]);
  stop.abort(new Error("stopped"));
  expect(await run()).toMatchObject(failure);
  const named = { id: "p", processor: { process: rude }, strays };
  const never = new AbortController().signal;
  expect(await runProcessor(clock, named, envelope, TIMEOUT_MS, never)).toMatchObject(failure);
  expect(lines).toHaveLength(1);
  expect(open(strays)).toBe(0);
});

test("one that does not end in time has failed, its signal aborts, and it is counted until it ends", async () => {
  const held = Promise.withResolvers<never>();
  let given: AbortSignal | undefined;
  const { run, strays } = stage((_, signal) => {
    given = signal;
    return held.promise;
  });
  expect(await run()).toMatchObject({ code: "TIMEOUT", message: "processor p: did not end within 1000 ms" });
  expect([given?.aborted, open(strays)]).toEqual([true, 1]);
  held.reject(new Error("late"));
  await new Promise(setImmediate);
  expect(open(strays)).toBe(0);
});

test("one whose message is cancelled is given up at once: what it throws then is only its answer to that", async () => {
  const { run, lines, stop, strays } = stage(() => new Promise(() => {}));
  const ended = run();
  stop.abort(new Error("stopped"));
  expect(await ended).toMatchObject({ message: "processor p: stopped" });
  expect(lines).toEqual([]);
  expect(open(strays)).toBe(1);
});
