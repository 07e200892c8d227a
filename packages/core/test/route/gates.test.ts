import { BridgeError, type Processor, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { Gates } from "../../src/route/gates.ts";
import { Strays } from "../../src/route/strays.ts";
import { Surprises } from "../../src/route/surprises.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";

const process: Processor["process"] = (envelope) => ({ kind: "pass", envelope });

function gatesOf(admits: readonly Processor["admit"][]) {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const logger = { ...silentLogger, error: (_: string, fields?: object) => void told.push(fields) };
  const processors = admits.map((admit, at) => ({
    id: `p${at}`,
    processor: { process, ...(admit !== undefined && { admit }) },
    strays: new Strays(clock),
  }));
  return { gates: new Gates(processors, new Surprises(logger, clock)), told };
}

test("of processors that let a send through each hears how it ended, also after one that throws, whose name is logged", () => {
  const heard: string[] = [];
  const { gates, told } = gatesOf([
    () => ({ kind: "admitted", ended: ({ kind }) => void heard.push(`first ${kind}`) }),
    undefined,
    () => ({
      kind: "admitted",
      ended() {
        throw new Error("rude");
      },
    }),
    () => ({ kind: "admitted", ended: ({ kind }) => void heard.push(`last ${kind}`) }),
  ]);
  const ended = gates.admit(envelopeOf(), "out");
  if (typeof ended !== "function") throw new Error("the send was refused");
  ended(undefined);
  expect(heard).toEqual(["first accepted", "last accepted"]);
  expect(told).toMatchObject([{ where: "processor p2", error: "rude" }]);
});

test("one that refuses is named, those before it hear that nothing was sent, and those after it are not asked", () => {
  const heard: string[] = [];
  const open = new BridgeError("UNAVAILABLE", "circuit open", { charged: false, retryAfterMs: 5_000 });
  const { gates, told } = gatesOf([
    () => ({ kind: "admitted", ended: ({ kind }) => void heard.push(`first ${kind}`) }),
    () => ({ kind: "refused", error: open }),
    () => void heard.push("asked") as never,
  ]);
  expect(gates.admit(envelopeOf(), "out")).toMatchObject({
    code: "UNAVAILABLE",
    message: "processor p1: circuit open",
    charged: false,
    retryAfterMs: 5_000,
  });
  expect(heard).toEqual(["first cancelled"]);
  expect(told).toEqual([]);
});

test("one that throws refuses for that, and is logged with the message", () => {
  const { gates, told } = gatesOf([
    () => {
      throw new Error("rude");
    },
  ]);
  expect(gates.admit(envelopeOf({ id: "m1" }), "out")).toMatchObject({
    code: "INTERNAL",
    message: "processor p0: rude",
  });
  expect(told).toMatchObject([{ where: "processor p0", envelope_id: "m1" }]);
});

test("one that says nothing has no objection, and hears nothing of how the send ended", () => {
  const heard: string[] = [];
  const { gates, told } = gatesOf([
    () => undefined as never,
    () => ({ kind: "admitted", ended: ({ kind }) => void heard.push(kind) }),
  ]);
  const ended = gates.admit(envelopeOf(), "out");
  if (typeof ended !== "function") throw new Error("the send was refused");
  ended(new BridgeError("REJECTED", "no"));
  expect([heard, told]).toEqual([["failed"], []]);
});

test("where no processor has a say nothing is made for a send, and nobody hears how it ended", () => {
  const { gates, told } = gatesOf([undefined, undefined]);
  const ended = gates.admit(envelopeOf(), "out");
  expect(gates.admit(envelopeOf(), "out")).toBe(ended);
  if (typeof ended !== "function") throw new Error("the send was refused");
  ended(new BridgeError("REJECTED", "no"));
  expect(told).toEqual([]);
});
