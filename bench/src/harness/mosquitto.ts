import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@bridge/tooling/listening";
import { ServerProcess } from "./server-process.ts";

const START_TIMEOUT_MS = 5_000;

export interface MosquittoSettings {
  /** The most messages unacknowledged on the way to one client; unlimited by default. */
  readonly maxInFlight?: number;
  /** Further lines of its configuration. */
  readonly more?: readonly string[];
}

/**
 * Starts a Mosquitto of the benchmark's own on a free port of loopback. Its queues are unlimited, so that it drops nothing,
 * and so is its window, so that only the clients' count; without `set_tcp_nodelay` its answers would wait for each other.
 *
 * @throws Error when `mosquitto` is not on the path
 */
export async function startMosquitto({ maxInFlight = 0, more = [] }: MosquittoSettings = {}): Promise<ServerProcess> {
  const port = await freePort();
  return ServerProcess.start(async (folder) => {
    const file = join(folder, "mosquitto.conf");
    const lines = [
      `listener ${port} 127.0.0.1`,
      "allow_anonymous true",
      "persistence false",
      "set_tcp_nodelay true",
      "max_queued_messages 0",
      `max_inflight_messages ${maxInFlight}`,
      "log_type error",
      ...more,
    ];
    await writeFile(file, `${lines.join("\n")}\n`);
    return { command: "mosquitto", args: ["-c", file], port, startTimeoutMs: START_TIMEOUT_MS };
  });
}
