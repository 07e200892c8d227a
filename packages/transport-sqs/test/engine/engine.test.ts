import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Supervisor } from "@bridge/core";
import { BridgeError, RESERVED } from "@bridge/ports";
import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { runProgram } from "@bridge/tooling/test-program";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BridgeSetup, startBridge } from "../support/bridge.ts";
import { type Emulator, startFauxqs } from "../support/fauxqs.ts";
import { envelope, never, sender, until } from "../support/parts.ts";

let fauxqs: Emulator;
beforeAll(async () => void (fauxqs = await startFauxqs()));
afterAll(async () => fauxqs[Symbol.asyncDispose]());

const queue = (): Promise<string> => fauxqs.createQueue(`q-${crypto.randomUUID()}`);

async function publish(url: string, ...payloads: readonly string[]): Promise<void> {
  await using publisher = sender({ queue_url: url });
  for (const payload of payloads) {
    const headers = url.endsWith(".fifo") ? { [RESERVED.orderingKey]: payload[0]! } : {};
    await publisher.send(envelope({ payload: Buffer.from(payload), headers }), "", never());
  }
}

/** Refuses the first messages that come, and takes the others. */
function moody(failures: number): { readonly seen: string[]; readonly target: BridgeSetup["target"] } {
  const seen: string[] = [];
  return {
    seen,
    target: async ({ payload }) => {
      seen.push(Buffer.from(payload).toString());
      if (seen.length <= failures) throw new BridgeError("UNAVAILABLE", "not now");
    },
  };
}

const ends = (supervisor: Supervisor) =>
  supervisor.stats().legs.find(({ bindingId }) => bindingId === "to-out")!.dispositions;

describe.concurrent("a bridge from a queue", () => {
  test("that fails twice for a time releases the message twice, and delivers it", async () => {
    const url = await queue();
    await publish(url, "a");
    const { seen, target } = moody(2);
    const bridge = await startBridge({ receiver: { queue_url: url }, target });
    await until(() => ends(bridge).delivered === 1);
    expect(seen).toEqual(["a", "a", "a"]);
    expect(ends(bridge)).toMatchObject({ released: 2, delivered: 1, dead_lettered: 0 });
    await bridge.shutdown();
    expect(await fauxqs.size(url)).toBe(0);
  });

  test("counts attempts by the receive count of the queue: at the cap the message is a dead letter", async () => {
    const url = await queue();
    await publish(url, "a");
    const { seen, target } = moody(Infinity);
    const bridge = await startBridge({ receiver: { queue_url: url }, target, policy: { max_replay_attempts: 3 } });
    await until(() => ends(bridge).dead_lettered === 1);
    const [entry] = await bridge.dlq()!.list({}, { limit: 10, offset: 0 }, never());
    expect(entry).toMatchObject({ attempts: 3, errorCode: "UNAVAILABLE", category: "transient" });
    expect(seen).toHaveLength(3);
    await bridge.shutdown();
    expect(await fauxqs.size(url)).toBe(0);
  });

  test("that was killed with a message in its hands: the message comes again, and its count goes on", async () => {
    const url = await queue();
    await publish(url, "a");
    const program = new URL("../support/holding-process.ts", import.meta.url);
    const { lines } = await runProgram({ program, args: [url] }, 1);
    expect(lines).toEqual(["a"]);
    const { seen, target } = moody(Infinity);
    const bridge = await startBridge({ receiver: { queue_url: url }, target, policy: { max_replay_attempts: 3 } });
    await until(() => ends(bridge).dead_lettered === 1);
    // The first of three attempts was that of the process that is gone.
    expect(seen).toHaveLength(2);
    await bridge.shutdown();
  });

  test("that is stopped shows what it held at once, and drops nothing", async () => {
    const url = await queue();
    await publish(url, "a", "b");
    let sends = 0;
    const hung = await startBridge({
      receiver: { queue_url: url, visibility_timeout: "1h" },
      target: async (_, signal) => {
        sends++;
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
    });
    await until(() => sends === 2);
    await hung.shutdown();
    expect(ends(hung)).toMatchObject({ abandoned: 2, delivered: 0 });
    const { seen, target } = moody(0);
    const next = await startBridge({ receiver: { queue_url: url }, target });
    await until(() => ends(next).delivered === 2);
    expect(seen.toSorted()).toEqual(["a", "b"]);
    await next.shutdown();
  });

  test("that was stopped takes nothing with it: what comes into its last poll is shown to others", async () => {
    const url = await queue();
    const { target } = moody(0);
    const stopped = await startBridge({
      receiver: { queue_url: url, visibility_timeout: "1h", wait_time: "3s" },
      target,
    });
    const stopping = stopped.shutdown();
    await publish(url, "a");
    await stopping;
    const next = await startBridge({ receiver: { queue_url: url }, target });
    // The stop may have come later than the message.
    await until(() => ends(stopped).delivered + ends(next).delivered === 1);
    await next.shutdown();
    expect(await fauxqs.size(url)).toBe(0);
  });

  test.each(["memory", "file"] as const)(
    "into an outbox (%s) empties the queue before the target accepts",
    async (type) => {
      const url = await queue();
      const folder = await mkdtemp(join(tmpdir(), "bridge-sqs-"));
      const options = type === "file" ? { path: join(folder, "outbox.db") } : { acknowledge_volatile: true };
      await publish(url, "a");
      const { seen, target } = moody(2);
      const emptied: number[] = [];
      const bridge = await startBridge({
        receiver: { queue_url: url },
        outbox: { type, options },
        target: async (message, signal) => {
          emptied.push(await fauxqs.size(url));
          await target(message, signal);
        },
      });
      await until(() => ends(bridge).delivered === 1);
      expect(seen).toEqual(["a", "a", "a"]);
      expect(emptied.at(-1)).toBe(0);
      expect(ends(bridge)).toMatchObject({ delivered: 1, released: 0 });
      await bridge.shutdown();
      await rm(folder, { recursive: true });
    },
  );

  test("keeps the order of each group, whatever fails", async () => {
    await using strict = await startStrictSqs();
    const url = strict.createQueue("q.fifo");
    const payloads = ["a1", "b1", "a2", "a3", "b2", "b3", "a4"];
    await publish(url, ...payloads);
    const { seen, target } = moody(3);
    const bridge = await startBridge({ receiver: { queue_url: url }, target });
    await until(() => ends(bridge).delivered === payloads.length);
    for (const group of ["a", "b"]) {
      const first = [...new Set(seen.filter((payload) => payload.startsWith(group)))];
      expect(first).toEqual(payloads.filter((payload) => payload.startsWith(group)));
    }
    expect(ends(bridge)).toMatchObject({ released: 0 });
    await bridge.shutdown();
    expect(strict.queue(url).bodies).toEqual([]);
  });
});
