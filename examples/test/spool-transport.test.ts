import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry, parseConfig } from "@bridge/config";
import { describeTransport } from "@bridge/conformance";
import { createSupervisor } from "@bridge/core";
import { memoryDlqPlugin } from "@bridge/dlq-memory";
import { memoryHub, memoryTransport } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import { spoolTransport } from "../adapter/spool-transport.ts";

const NO_CONNECTION = "a folder has no connection that could be broken";
const NO_RELEASE = "a folder cannot hold a file back: the engine holds the message";

describeTransport("spool", {
  plugin: spoolTransport,
  async open() {
    const folder = await spool();
    return {
      source: { receiver: { options: { folder, poll_interval: "5ms" } } },
      target: { sender: { options: { folder } }, address: "" },
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
    };
  },
  except: {
    "source: what is unsettled comes back after the connection was cut": NO_CONNECTION,
    "source: a settlement that comes after the connection was cut is refused": NO_CONNECTION,
    "source: receive goes on after the connection was cut": NO_CONNECTION,
    "source: a delivery that is released comes back": NO_RELEASE,
    "source: a released delivery does not come back before its delay": NO_RELEASE,
    "source: receive counts grow": "files are not counted",
    "target: a blocked send rejects when its signal aborts": NO_CONNECTION,
    "target: a send that is cut off fails as transient, and a later one succeeds": NO_CONNECTION,
    "target: without a connection a send fails as transient": NO_CONNECTION,
    "target: disposing the sender ends a blocked send": NO_CONNECTION,
  },
});

test("a file that is no message becomes a dead letter with its bytes, and leaves the folder", async () => {
  const folder = await spool();
  const registry = createRegistry({
    transports: [spoolTransport, memoryTransport(memoryHub())],
    dlqStores: [memoryDlqPlugin],
  });
  const config = parseConfig(
    {
      bridge: { id: "spooling" },
      stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
      receivers: [{ id: "in", transport: "spool", options: { folder, poll_interval: "5ms" } }],
      senders: [{ id: "out", transport: "memory" }],
      bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
      routes: [{ id: "unspool", receiver_id: "in", bindings: ["to-out"] }],
    },
    registry,
  );
  await writeFile(join(folder, "broken.json"), "no message");
  const bridge = createSupervisor({ config, registry });
  const soon = AbortSignal.timeout(30_000);

  await bridge.start(soon);
  await expect.poll(() => readdir(folder), { timeout: 30_000 }).toEqual([]);

  const [head] = (await bridge.dlq()?.list({}, { limit: 1, offset: 0 }, soon)) ?? [];
  const entry = await bridge.dlq()?.get(head?.id ?? "", soon);
  expect(entry).toMatchObject({ category: "rejected", errorCode: "INVALID_PAYLOAD" });
  expect(new TextDecoder().decode(entry?.envelope.payload)).toBe("no message");
  await bridge.shutdown();
  await rm(folder, { recursive: true });
});

function spool(): Promise<string> {
  return mkdtemp(join(tmpdir(), "bridge-spool-"));
}
