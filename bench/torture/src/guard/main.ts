/**
 * Cleans up after the torture, however it ends: as soon as the process that started this one is gone, kills what it left
 * running and unmounts what it left mounted. @module
 */
import { execFileSync } from "node:child_process";
import type { GuardNote } from "../parts/guard.ts";

const processes = new Set<number>();
const mounts = new Set<string>();

process.on("message", (note: GuardNote) => {
  switch (note.kind) {
    case "started":
      processes.add(note.pid);
      break;
    case "ended":
      processes.delete(note.pid);
      break;
    case "mounted":
      mounts.add(note.path);
      break;
    case "unmounted":
      mounts.delete(note.path);
      break;
  }
});

process.on("disconnect", () => {
  for (const pid of processes) attempt(() => process.kill(pid, "SIGKILL"));
  for (const path of mounts) attempt(() => execFileSync("umount", ["--lazy", path], { stdio: "ignore" }));
  process.exit();
});

// The terminal's interrupt goes to all its processes; this one stays until the others have ended.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // It has ended by itself meanwhile.
  }
}
