#!/usr/bin/env node
import process from "node:process";
import { runBridge } from "@bridge/host";
import manifest from "../package.json" with { type: "json" };
import { plugins } from "./compose.ts";

const program = { name: "bridge", version: manifest.version };
process.exit(await runBridge({ program, plugins: plugins() }, process));
