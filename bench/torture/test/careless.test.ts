import { spawnSync } from "node:child_process";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runTorture } from "./support/torture-process.ts";

const CARELESS = fileURLToPath(new URL("support/careless-bridge.ts", import.meta.url));
const FLAGS = "--kills 2 --rate 100 --routes mqtt-mqtt --troubles none --time-limit 60s --stores memory".split(" ");
const noMosquitto = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && spawnSync("mosquitto", ["-h"]).error !== undefined;

it.skipIf(noMosquitto)("finds out a bridge that acknowledges before it has delivered", async () => {
  const run = await runTorture("--bridge", CARELESS, ...FLAGS);
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(/^- \d+ messages are LOST$/m);
});
