/**
 * Disks for tests that need one that is full or read-only. Mounting needs the right to do so: where there is none,
 * what needs it is skipped and counted, unless BRIDGE_REQUIRE_BROKERS=1 makes that a failure. @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { env } from "node:process";

export interface TestDisk extends Disposable {
  readonly folder: string;
}

const required = env["BRIDGE_REQUIRE_BROKERS"] === "1";

/** For `describe.skipIf`: whether there can be no small disk. */
export const noSmallDisk: boolean = !required && !works(() => smallDisk(64)[Symbol.dispose]());

/** For `describe.skipIf`: whether there can be no breakable disk. */
export const noBreakableDisk: boolean = !required && !works(() => breakableDisk()[Symbol.dispose]());

/** A disk of so many KiB. */
export function smallDisk(kib: number): TestDisk {
  return mounted(["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs"]);
}

/** A disk that the system makes read-only after an error, under whoever has it open. */
export function breakableDisk(): TestDisk & { break(): void } {
  const image = join(mkdtempSync(join(tmpdir(), "bridge-image-")), "image");
  writeFileSync(image, "");
  truncateSync(image, 16 * 1024 * 1024);
  run("mkfs.ext4", ["-q", "-e", "remount-ro", image]);
  const disk = mounted(["-o", "loop", image]);
  return {
    folder: disk.folder,
    break() {
      const device = run("findmnt", ["-no", "SOURCE", disk.folder]).trim();
      writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, "1");
    },
    [Symbol.dispose]() {
      disk[Symbol.dispose]();
      rmSync(join(image, ".."), { recursive: true });
    },
  };
}

function mounted(how: readonly string[]): TestDisk {
  const folder = mkdtempSync(join(tmpdir(), "bridge-disk-"));
  run("mount", [...how, folder]);
  return {
    folder,
    [Symbol.dispose]() {
      run("umount", [folder]);
      rmdirSync(folder);
    },
  };
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function works(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
