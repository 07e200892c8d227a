import { type LogFields, type Logger, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { SentAsKept } from "../../src/dlq/as-kept.ts";
import { entryOf } from "../dlq-job/job-bridge.ts";

/** As an entry is written for a message that was refused as it came in. */
const REFUSED = { bindingId: "", attempts: 0, errorCode: "INVALID_PAYLOAD" } as const;

function sentAsKept() {
  const told: (LogFields | undefined)[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, fields) => void told.push(fields) };
  return { asKept: new SentAsKept(logger), told };
}

test("a message that was refused on the way in is warned of, and the log has its entry and the reason", () => {
  const { asKept, told } = sentAsKept();
  asKept.redriven(entryOf(1, { ...REFUSED, lastError: "the headers are too large" }));
  expect(asKept.warning).toMatch(/^1 message was refused on the way in, and sent as kept/);
  expect(told).toEqual([
    { entry_id: "e00001", route_id: "r", envelope_id: "original-e00001", reason: "the headers are too large" },
  ]);
});

test("several of them are counted in one warning, and each has its own line in the log", () => {
  const { asKept, told } = sentAsKept();
  asKept.redriven(entryOf(1, REFUSED));
  asKept.redriven(entryOf(2, REFUSED));
  expect(asKept.warning).toMatch(/^2 messages were refused on the way in, and sent as kept/);
  expect(told.map((fields) => fields?.["entry_id"])).toEqual(["e00001", "e00002"]);
});

test.each([
  ["a binding failed", { bindingId: "out" }],
  ["a processor was charged an attempt", { attempts: 1 }],
  ["nothing of it was refused as it came in", { errorCode: "INTERNAL" }],
] as const)("a message of which all was kept is not warned of: %s", (_, changes) => {
  const { asKept, told } = sentAsKept();
  asKept.redriven(entryOf(1, { ...REFUSED, ...changes }));
  expect([asKept.warning, told]).toEqual([undefined, []]);
});
