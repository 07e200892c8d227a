#!/usr/bin/env node
/** The command `bridge-audit`. @module */
import process from "node:process";
import { bridgeAudit } from "./verify-command.ts";

process.exitCode = await bridgeAudit(process.argv.slice(2), process);
