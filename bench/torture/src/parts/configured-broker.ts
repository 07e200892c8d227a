import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Broker } from "./broker.ts";
import type { Guard } from "./guard.ts";

const TIMEOUT_MS = 20_000;

export interface BrokerOptions {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly guard: Guard;
}

/** Starts a broker that reads its settings, these lines, from a file: `PROGRAM -c FILE`. */
export async function startConfigured(
  program: string,
  lines: readonly string[],
  { folder, ...rest }: BrokerOptions,
): Promise<Broker> {
  const file = join(folder, `${program}.conf`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, `${lines.join("\n")}\n`);
  const launch = () => spawn(program, ["-c", file], { stdio: "ignore" });
  return Broker.start({ ...rest, launch, startTimeoutMs: TIMEOUT_MS, stopTimeoutMs: TIMEOUT_MS });
}
