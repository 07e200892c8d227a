/**
 * Loaded before the bridge, in its process: tells over the channel to its parent how long the longest turn of the event
 * loop was since it was last asked. CPU time of the main thread, so that what else the machine does is not counted.
 * @module
 */
import process from "node:process";

/** What the parent asks, and is told. */
export type Asked = "begin" | "end";
export interface LongestTurn {
  readonly cpuMs: number;
  readonly wallMs: number;
}

let watching = false;
let longest = { cpuMs: 0, wallMs: 0 };
let before = { cpuMs: 0, wallMs: 0 };

process.on("message", (asked: Asked) => {
  if (asked === "end") {
    watching = false;
    process.send?.(longest satisfies LongestTurn);
    return;
  }
  watching = true;
  longest = { cpuMs: 0, wallMs: 0 };
  before = now();
  setImmediate(turn);
  process.send?.(longest);
});
process.channel?.unref();

function turn(): void {
  const at = now();
  longest = {
    cpuMs: Math.max(longest.cpuMs, at.cpuMs - before.cpuMs),
    wallMs: Math.max(longest.wallMs, at.wallMs - before.wallMs),
  };
  before = at;
  if (watching) setImmediate(turn);
}

function now(): LongestTurn {
  const { user, system } = process.threadCpuUsage();
  return { cpuMs: (user + system) / 1_000, wallMs: performance.now() };
}
