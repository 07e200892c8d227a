#!/usr/bin/env node
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runProgram } from "@bridge/host";
import { program } from "./program.ts";

// As in the reference binary (docs/performance.md): without, a full window of messages in flight is collected as old objects.
setFlagsFromString("--no-allocation-site-pretenuring");

process.exit(await runProgram(program, process));
