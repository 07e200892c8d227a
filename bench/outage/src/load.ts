/** Offers messages at a steady rate, and is their target while there is one. A process of its own. @module */
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { answer, ready } from "../../src/harness/answer.ts";
import { Ledger } from "../../src/load/ledger.ts";
import { openHttpSink } from "../../src/load/sink.ts";
import { openSource } from "../../src/load/source.ts";
import { TOPIC } from "./document.ts";
import type { LoadJob, Offer } from "./load-process.ts";

const TICK_MS = 5;

const { size } = JSON.parse(process.argv[2] ?? "") as LoadJob;
const ledger = new Ledger(size);
const connections = new Set<Socket>();
let target: Server | undefined;

/** Resolves when all have been offered, however long that takes. */
answer("offer", async ({ port, perSecond, messages }: Offer): Promise<void> => {
  const source = await openSource({ kind: "mqtt", port, topic: TOPIC }, ledger, () => {});
  const began = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(messages, Math.floor(((performance.now() - began) * perSecond) / 1_000));
      while (ledger.sent < due) source.send();
      if (ledger.sent < messages) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
});

answer("open target", async (port: number): Promise<void> => {
  target = await openHttpSink(port, (payload) => ledger.receive(payload));
  target.on("connection", (socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
  });
});
answer("close target", async (): Promise<void> => {
  if (target === undefined) return;
  const closed = once(target, "close");
  target.close();
  for (const socket of connections) socket.resetAndDestroy();
  await closed;
});
answer("balance", () => ledger.balance());
ready();
