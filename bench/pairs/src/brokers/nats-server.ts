import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@bridge/tooling/listening";
import { ServerProcess } from "../../../src/harness/server-process.ts";
import { NatsPeer } from "../../../src/load/nats-peer.ts";

const START_TIMEOUT_MS = 5_000;

/** Starts a NATS server with JetStream on a free port of loopback, and streams on files, each with one subject of its name. */
export async function startNats(streams: readonly string[]): Promise<ServerProcess> {
  const port = await freePort();
  const server = await ServerProcess.start(async (folder) => {
    const file = join(folder, "nats.conf");
    await writeFile(file, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\n`);
    return { command: "nats-server", args: ["-c", file], port, startTimeoutMs: START_TIMEOUT_MS };
  });
  try {
    using peer = await NatsPeer.connect(port, () => {});
    for (const stream of streams) await peer.createStream(stream);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
