import { execFile, spawnSync } from "node:child_process";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const PROGRAM = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const CARELESS = fileURLToPath(new URL("support/careless-bridge.ts", import.meta.url));
const FLAGS = "--kills 2 --rate 100 --routes mqtt-mqtt --troubles none --time-limit 60s --stores memory".split(" ");
const noMosquitto = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && spawnSync("mosquitto", ["-h"]).error !== undefined;

it.skipIf(noMosquitto)("finds out a bridge that acknowledges before it has delivered", async () => {
  const args = ["--conditions=@bridge/source", PROGRAM, "--bridge", CARELESS, ...FLAGS];
  const run = await promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  expect(run.code).toBe(1);
  expect(run.stdout).toMatch(/^- \d+ messages are LOST$/m);
});
