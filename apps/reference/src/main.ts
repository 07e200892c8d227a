#!/usr/bin/env node
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runBridge } from "@bridge/host";
import manifest from "../package.json" with { type: "json" };
import { plugins, telemetry } from "./compose.ts";

// V8 watches the first few hundred messages, finds nearly all that belongs to them alive because a whole window is in
// flight, and from then on makes such objects as old ones: nothing that they point to is then collected young. With a
// window of 500 that is a quarter of the CPU and of the memory (docs/performance.md).
setFlagsFromString("--no-allocation-site-pretenuring");

const program = { name: "bridge", version: manifest.version };
process.exit(await runBridge({ program, plugins: plugins(), telemetry }, process));
