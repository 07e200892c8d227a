import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { NODE_RED_VERSION } from "../peers/node-red.ts";
import type { RabbitMq } from "./rabbitmq.ts";

/** What the figures were taken with, beside what the machine says of itself. */
export async function versions(rabbit: RabbitMq | undefined): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await promisify(execFile)("nats-server", ["--version"]).catch(() => ({ stdout: "" }));
  return {
    rabbitmq: rabbit?.version ?? "not measured",
    nats: /v?(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? "none",
    nodeRed: NODE_RED_VERSION,
  };
}
