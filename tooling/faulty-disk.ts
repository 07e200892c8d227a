/**
 * Disks for tests that need one that is full or read-only. Mounting needs the right to do so: where there is none,
 * what needs it is skipped and counted, unless BRIDGE_REQUIRE_BROKERS=1 makes that a failure. @module
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
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

/** For `describe.skipIf`: whether there can be no thin disk. */
export const noThinDisk: boolean = !required && !works(() => thinDisk()[Symbol.dispose]());

/** A disk of 6 MiB that has its blocks from a pool when they are first written to, as volumes of storage systems do. */
export interface ThinDisk extends TestDisk {
  /** Until {@link refill} the pool has no block left: writes are taken, and their sync fails. */
  drain(): void;
  refill(): void;
}

/** Has no journal, so that it goes on when the pool does. */
export function thinDisk(): ThinDisk {
  const pool = smallDisk(10 * 1024);
  const [image, ballast] = [join(pool.folder, "image"), join(pool.folder, "ballast")];
  writeFileSync(image, "");
  truncateSync(image, 6 * 1024 * 1024);
  run("mkfs.ext4", ["-q", "-b", "4096", "-N", "128", "-O", "^has_journal,^resize_inode", "-e", "continue", image]);
  takeBlocks(image, 42 * 4096);
  const disk = mounted(["-o", "loop", image]);
  // A page a request: of a longer one for which the pool has only some pages, the loop device says that it was written.
  writeFileSync(`/sys/block/${deviceOf(disk)}/queue/max_sectors_kb`, "4");
  return {
    folder: disk.folder,
    drain() {
      // What the file system itself still has to write would be lost, and every file with it.
      run("sync", ["-f", disk.folder]);
      fill(ballast);
    },
    refill: () => rmSync(ballast),
    [Symbol.dispose]() {
      disk[Symbol.dispose]();
      pool[Symbol.dispose]();
    },
  };
}

/** So that the beginning of an image has all of its blocks: there the file system keeps what it knows of its files. */
function takeBlocks(image: string, bytes: number): void {
  const file = openSync(image, "r+");
  const beginning = Buffer.alloc(bytes);
  const length = readSync(file, beginning, 0, bytes, 0);
  writeSync(file, beginning, 0, length, 0);
  closeSync(file);
}

/** Until the disk has not a page left: what it had put aside for writes that were on their way is free again after a sync. */
export function fill(ballast: string): void {
  for (let rounds = 0; rounds < 3; rounds++) {
    for (const bytes of [1024 * 1024, 4096]) while (grows(ballast, bytes));
  }
}

function grows(file: string, bytes: number): boolean {
  const open = openSync(file, "a");
  try {
    writeSync(open, Buffer.alloc(bytes));
    fsyncSync(open);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  } finally {
    closeSync(open);
  }
}

/** Files and folders that nobody may write to, also who has them open, until it is disposed. */
export function immutable(paths: readonly string[]): Disposable {
  run("chattr", ["+i", ...paths]);
  return { [Symbol.dispose]: () => void run("chattr", ["-i", ...paths]) };
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
      writeFileSync(`/sys/fs/ext4/${deviceOf(disk)}/trigger_fs_error`, "1");
    },
    [Symbol.dispose]() {
      disk[Symbol.dispose]();
      rmSync(join(image, ".."), { recursive: true });
    },
  };
}

function deviceOf({ folder }: TestDisk): string {
  return basename(run("findmnt", ["-no", "SOURCE", folder]).trim());
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
