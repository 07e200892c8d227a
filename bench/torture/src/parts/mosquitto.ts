import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Broker } from "./broker.ts";
import type { Guard } from "./guard.ts";

const PROGRAM = "mosquitto";
const TIMEOUT_MS = 20_000;

export interface BrokerOptions {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly guard: Guard;
}

/**
 * A Mosquitto that loses nothing: as it comes it drops beyond 1,000 waiting messages, and killed with SIGKILL it forgets
 * what it has acknowledged. So its queues have no limit, and it is only ever ended by SIGTERM.
 */
export async function startMosquitto(options: BrokerOptions): Promise<Broker> {
  const { folder, ...rest } = options;
  const file = join(folder, "mosquitto.conf");
  await mkdir(folder, { recursive: true });
  await writeFile(file, configuration(options));
  const launch = () => spawn(PROGRAM, ["-c", file], { stdio: "ignore" });
  return Broker.start({ ...rest, launch, startTimeoutMs: TIMEOUT_MS, stopTimeoutMs: TIMEOUT_MS });
}

function configuration({ port, folder }: BrokerOptions): string {
  const lines = [
    // Started by root it would become another user, who cannot write here; otherwise this has no effect.
    "user root",
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "set_tcp_nodelay true",
    "persistence true",
    `persistence_location ${folder}/`,
    "autosave_interval 0",
    "max_queued_messages 0",
    "max_inflight_messages 0",
    `log_dest file ${join(folder, "mosquitto.log")}`,
    "log_type error",
    "log_type warning",
  ];
  return `${lines.join("\n")}\n`;
}
