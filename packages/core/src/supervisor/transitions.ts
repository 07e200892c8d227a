import type { SupervisorState } from "./contract.ts";

type Kind = SupervisorState["kind"];

/**
 * Which state may follow which.
 *
 *     unwired ──► starting ──► running ──► stopping ──► paused ──► starting …
 *                    │           ▲
 *                    │           └────► swapping (another configuration; back when it runs, or the former one again)
 *                    └──────► paused (the start failed)
 *
 * `shutting_down` and `terminal` may follow any state; nothing follows them but each other's end of the process:
 * a shutdown of a terminal bridge still closes what it can, and stays terminal.
 */
const NEXT: Readonly<Record<Kind, readonly Kind[]>> = {
  unwired: ["starting", "shutting_down", "terminal"],
  starting: ["running", "paused", "shutting_down", "terminal"],
  running: ["swapping", "stopping", "shutting_down", "terminal"],
  swapping: ["running", "shutting_down", "terminal"],
  stopping: ["paused", "shutting_down", "terminal"],
  paused: ["starting", "shutting_down", "terminal"],
  shutting_down: [],
  terminal: [],
};

export function mayFollow(from: Kind, to: Kind): boolean {
  return NEXT[from].includes(to);
}
