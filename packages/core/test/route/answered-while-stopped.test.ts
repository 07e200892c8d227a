import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { BridgeError, type Sender, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { LegAccount } from "../../src/accounting/leg-account.ts";
import { SendGuards } from "../../src/route/send-guards.ts";
import { envelopeOf } from "../support/envelope.ts";

/** Answers what it is sent as soon as `state[0]` is 1, from a thread of its own, and says so in `state[1]`. */
const TARGET = `
  const { createServer } = require("node:net");
  const { parentPort, workerData } = require("node:worker_threads");
  const server = createServer((socket) => {
    socket.once("data", () => {
      parentPort.postMessage("has it");
      Atomics.wait(workerData, 0, 0);
      if (workerData[2] === 1) socket.write("taken");
      Atomics.store(workerData, 1, 1);
      Atomics.notify(workerData, 1);
    });
    socket.once("error", () => {});
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

test.each([
  { answers: true, ends: "accepted" },
  { answers: false, ends: "TIMEOUT" },
])("a send whose answer came while the process stood still: $ends", async ({ answers, ends }) => {
  const state = new Int32Array(new SharedArrayBuffer(12));
  state[2] = answers ? 1 : 0;
  const target = new Worker(TARGET, { eval: true, workerData: state });
  const told = (): Promise<unknown> => new Promise((resolve) => target.once("message", resolve));
  try {
    const port = Number(await told());
    const sender: Sender = {
      send: (_, __, signal) =>
        new Promise((resolve, reject) => {
          const socket = connect(port, "127.0.0.1", () => socket.write("message"));
          socket.once("data", () => resolve());
          socket.once("error", reject);
          signal.addEventListener("abort", () => socket.destroy(), { once: true });
        }),
      [Symbol.asyncDispose]: async () => {},
    };
    using guards = new SendGuards(systemClock, 2_000);
    const began = systemClock.monotonic();
    const hasIt = told();
    const sent = guards.send({ sender, account: new LegAccount("route", "binding") }, envelopeOf(), "", {});
    const end = sent.then(
      () => "accepted",
      (error: unknown) => (BridgeError.is(error) ? error.code : String(error)),
    );
    await hasIt;
    // Nothing runs in this thread from here on until the answer is there and its time is over.
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
    Atomics.wait(state, 1, 0);
    while (systemClock.monotonic() < began + 2_500) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    expect(await end).toBe(ends);
  } finally {
    await target.terminate();
  }
});
