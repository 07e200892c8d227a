#!/usr/bin/env node
/**
 * What a command of the bridge starts with. It is compiled for a Node that cannot parse the program itself, `main-program.js`
 * beside a `main.js`: there it hands over to the Node of the folders above, or says which one is needed. @module
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Major and minor version. */
const LEAST = [22, 19] as const;
/** As Node itself ends a program that is not done when nothing is left to wait for. */
const UNFINISHED = 13;
/** Tells the program which process has launched it. */
const LAUNCHER = "BRIDGE_LAUNCHER_PID";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const ENDING = ["SIGINT", "SIGTERM"] as const;
const PROBE = /^--?healthcheck(?:=true)?$/;
/** What makes a command do one thing and end, instead of carrying messages until it is told to. */
const ONE_SHOT = /^--?(?:validate|create-tables|try|healthcheck|version|help)(?:=|$)/;

const self = fileURLToPath(import.meta.url);
const { dir: folder, name, ext } = parse(self);

if (isEnough(process.versions.node)) runHere();
else handOver();

function runHere(): void {
  if (process.connected && process.env[LAUNCHER] === String(process.ppid)) {
    delete process.env[LAUNCHER];
    // Who ends the launcher means the program, even when the launcher had no time to say so.
    process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
    process.channel?.unref();
  }
  process.exitCode = UNFINISHED;
  if (name === "main" && !process.argv.some((arg) => ONE_SHOT.test(arg))) endCleanlyWhileLoading();
  void import(pathToFileURL(program()).href).then(() => {
    // A program that is done may have said with which code.
    if (process.exitCode === UNFINISHED) process.exitCode = 0;
  });
}

/** What is asked every few seconds has a small program of its own, where there is one. */
function program(): string {
  const [first, ...others] = process.argv.slice(2);
  const probe = join(folder, `healthcheck${ext}`);
  const asks = first !== undefined && others.length === 0 && PROBE.test(first);
  return asks && existsSync(probe) ? probe : join(folder, `${name}-program${ext}`);
}

/** Nothing has begun yet that would have to be ended. As soon as the program takes a signal itself, it is no business of ours. */
function endCleanlyWhileLoading(): void {
  for (const signal of ENDING)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(0);
    });
  // What it asks for to be read is yet to be read.
  process.on("SIGHUP", () => {});
}

function handOver(): void {
  const node = findNode(folder);
  if (node === undefined) {
    process.stderr.write(
      `${calledAs()}: this is Node ${process.versions.node}, and Node ${LEAST.join(".")} or newer is needed. ` +
        "Install one, or put one that is installed first in PATH.\n",
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [...process.execArgv, self, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [LAUNCHER]: String(process.pid) },
    // In a group of its own, so that Ctrl-C reaches it once, through us, and not twice.
    detached: true,
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    process.stderr.write(`cannot run ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once("exit", (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code);
    for (const each of SIGNALS) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

/** The name of the command that npm has made, whatever file it leads to. */
function calledAs(): string {
  const called = parse(process.argv[1] || self).name;
  return called === "main" ? "bridge" : called;
}

/** The Node that is installed with the packages of a folder above. */
function findNode(from: string): string | undefined {
  for (let place = from; ; place = dirname(place)) {
    const node = join(place, "node_modules", ".bin", "node");
    if (existsSync(node) && isNewEnough(node)) return node;
    if (dirname(place) === place) return undefined;
  }
}

function isNewEnough(node: string): boolean {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8", timeout: 10_000 });
  return isEnough((stdout || "").replace(/^v/, ""));
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1]);
}
