import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memoryHub, memory } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import { spool } from "../adapter/spool.ts";
import { spoolTransport } from "../adapter/spool-transport.ts";

test("files of a folder are copied into another by a bridge in code", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bridge-spool-"));
  await Promise.all(["in", "out", "out/copies"].map((name) => mkdir(join(folder, name), { recursive: true })));
  const copying = defineBridge({
    id: "spooling",
    stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
    routes: {
      copy: {
        from: spool.folder(join(folder, "in"), { poll_interval: "5ms" }),
        to: spool.at(join(folder, "out"), "copies"),
      },
    },
  });
  const bridge = await copying.start({ signal: AbortSignal.timeout(30_000) });
  await bridge.inject("copy", { subject: "s", payload: { n: 1 } });
  const [name] = await readdir(join(folder, "out", "copies"));
  await rename(join(folder, "out", "copies", name ?? ""), join(folder, "in", name ?? ""));
  await expect.poll(() => readdir(join(folder, "in")), { timeout: 30_000 }).toEqual([]);
  expect(await readdir(join(folder, "out", "copies"))).toHaveLength(1);
  await bridge.shutdown();
  await rm(folder, { recursive: true });
});

test("a file that is no message becomes a dead letter with its bytes, and leaves the folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bridge-spool-"));
  const registry = createRegistry({
    transports: [spoolTransport, memory(memoryHub())],
    dlqStores: [memoryDlq],
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
