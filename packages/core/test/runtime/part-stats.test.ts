import { type LogFields, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { partStats } from "../../src/runtime/part-stats.ts";
import { NO_PARTS, type RuntimeParts } from "../../src/runtime/runtime-parts.ts";

test("counters that cannot be read are told under the name of their session, receiver or sender", () => {
  const told: unknown[] = [];
  const logger = { ...silentLogger, error: (_: string, fields?: LogFields) => void told.push(fields?.["part"]) };
  const broken = () => ({
    counters(): never {
      throw new Error("not to be read");
    },
  });
  const parts = {
    ...NO_PARTS,
    links: new Map([["link s/source", { sessionId: "s", role: "source", session: broken() }]]),
    intakes: new Map([["receiver in", { id: "in", receiver: broken() }]]),
    senders: new Map([["sender out", broken()]]),
  } as unknown as RuntimeParts;
  partStats(parts, logger);
  expect(told).toEqual(["session s", "receiver in", "sender out"]);
});
