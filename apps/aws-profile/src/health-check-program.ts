import process from "node:process";
import { runProgram } from "@bridge/host";
import manifest from "../package.json" with { type: "json" };
import { healthCheck } from "./health-check.ts";

// What the launcher runs for `-healthcheck` alone. A container is asked every few seconds, and loading the bridge for it would
// take more CPU than a small task has to spare, and more time than the probe.
const flags = {
  healthcheck: { name: "healthcheck", initial: false as boolean, help: "ask the running bridge" },
} as const;
const program = { name: "bridge-aws", version: manifest.version, flags, run: () => healthCheck(process) };
process.exit(await runProgram(program, process));
