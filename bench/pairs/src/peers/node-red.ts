import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "@bridge/tooling/listening";
import { ServerProcess } from "../../../src/harness/server-process.ts";
import type { EndJob, PairJob } from "../job.ts";

export const NODE_RED_VERSION = "4.1.15";
/** It and what it needs are larger than this whole repository with its tools: it is installed when it is first measured. */
const FOLDER = fileURLToPath(new URL(`../../../.cache/node-red-${NODE_RED_VERSION}`, import.meta.url));
const PROGRAM = join(FOLDER, "node_modules/node-red/red.js");
const INSTALL_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 60_000;
/** From being connected to being subscribed. */
const SUBSCRIBED_MS = 500;

/** Installs Node-RED unless it is there. @throws Error when that fails */
export async function installNodeRed(): Promise<void> {
  if (existsSync(PROGRAM)) return;
  await mkdir(FOLDER, { recursive: true });
  const options = ["--prefix", FOLDER, "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional"];
  await promisify(execFile)("npm", ["install", ...options, `node-red@${NODE_RED_VERSION}`], {
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/**
 * Node-RED with one node that takes from a topic and one that publishes to another, both QoS 1. It acknowledges a message
 * when it has it, not when the target has.
 */
export async function startNodeRed({ from, to }: PairJob): Promise<ServerProcess> {
  const port = await freePort();
  const server = await ServerProcess.start(async (folder) => {
    const [flows, settings] = [join(folder, "flows.json"), join(folder, "settings.cjs")];
    await writeFile(flows, JSON.stringify(flow(from, to)));
    const values = {
      uiHost: "127.0.0.1",
      uiPort: port,
      httpAdminRoot: false,
      telemetry: { enabled: false },
      logging: { console: { level: "info", metrics: false, audit: false } },
    };
    await writeFile(settings, `module.exports = ${JSON.stringify(values)};\n`);
    const args = [PROGRAM, "--userDir", folder, "--settings", settings, flows];
    return { command: process.execPath, args, port, startTimeoutMs: START_TIMEOUT_MS };
  });
  try {
    await server.said(/Connected to broker[^]*Connected to broker/, START_TIMEOUT_MS);
    await sleep(SUBSCRIBED_MS);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

function flow(from: EndJob, to: EndJob): readonly object[] {
  const tab = "bench";
  const broker = { type: "mqtt-broker", broker: "127.0.0.1", protocolVersion: "5", keepalive: "60", autoConnect: true };
  return [
    { id: tab, type: "tab", label: tab },
    { ...broker, id: "source", port: String(from.port), clientid: "node-red-source", cleansession: true },
    { ...broker, id: "target", port: String(to.port), clientid: "node-red-target", cleansession: true },
    {
      id: "in",
      z: tab,
      type: "mqtt in",
      topic: from.name,
      qos: "1",
      datatype: "buffer",
      broker: "source",
      wires: [["out"]],
    },
    { id: "out", z: tab, type: "mqtt out", topic: to.name, qos: "1", retain: "false", broker: "target", wires: [] },
  ];
}
