import fs, { existsSync, readdirSync, readlinkSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { devNull } from "node:os";
import { isMainThread } from "node:worker_threads";

/** For `skipIf`: whether this thread cannot be another user for a moment. */
export const staysItself: boolean = process.getuid?.() !== 0 || !isMainThread;

const DESCRIPTORS = "/proc/self/fd";

/** For `skipIf`: whether the system does not tell which file a descriptor is of. macOS has no `/proc`. */
export const hidesDescriptors: boolean = !existsSync(DESCRIPTORS);

/** How many descriptors this process has open. Not where they are hidden. */
export function openDescriptors(): number {
  return readdirSync(DESCRIPTORS).length;
}

/**
 * Names of files and folders that this thread makes durable, in turn, until it is disposed: a sync leaves no other trace. Not where
 * descriptors are hidden.
 */
export function watchSyncs(): Disposable & { readonly names: string[] } {
  const names: string[] = [];
  const { fsyncSync, fdatasyncSync } = fs;
  const note = (handle: number): void => void names.push(basename(readlinkSync(`${DESCRIPTORS}/${handle}`)));
  const undo = replace({
    fsyncSync: (handle) => (note(handle), fsyncSync(handle)),
    fdatasyncSync: (handle) => (note(handle), fdatasyncSync(handle)),
  });
  return { names, [Symbol.dispose]: undo };
}

/** A disk that fails when a file or folder of this name is to be made durable by this thread, until it is disposed. Not where descriptors are hidden. */
export function failSyncsOf(name: string): Disposable {
  const { fsyncSync } = fs;
  const undo = replace({
    fsyncSync(handle) {
      if (basename(readlinkSync(`${DESCRIPTORS}/${handle}`)) === name)
        throw Object.assign(new Error("EIO: fsync"), { code: "EIO", syscall: "fsync" });
      fsyncSync(handle);
    },
  });
  return { [Symbol.dispose]: undo };
}

/** A system that does not tell what is mounted, as others than Linux, until it is disposed. */
export function hideMounts(): Disposable {
  const { existsSync: exists, readFileSync } = fs;
  const isHidden = (path: unknown): boolean => path === "/proc/self/mountinfo";
  const undo = replace({
    existsSync: (path) => !isHidden(path) && exists(path),
    readFileSync: ((path: string, ...rest: []) =>
      readFileSync(isHidden(path) ? "/missing" : path, ...rest)) as typeof fs.readFileSync,
  });
  return { [Symbol.dispose]: undo };
}

/** Arguments of each call of one of the file system's functions by this thread, until it is disposed. */
export function watchCalls(name: "writeSync" | "readSync"): Disposable & { readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const call = fs[name] as (...parts: unknown[]) => unknown;
  const undo = replace({
    [name]: (...parts: unknown[]) => {
      calls.push(parts);
      return call(...parts);
    },
  });
  return { calls, [Symbol.dispose]: undo };
}

/** A disk that takes at most so many bytes with each write, until it is disposed. */
export function takeAtMost(bytes: number): Disposable {
  const write = fs.writeSync as (...parts: unknown[]) => number;
  const undo = replace({
    writeSync: ((file: number, from: Buffer, at: number, length: number, ...rest: unknown[]) =>
      write(file, from, at, Math.min(length, bytes), ...rest)) as typeof fs.writeSync,
  });
  return { [Symbol.dispose]: undo };
}

/** Until it is disposed, `code` is what the system says once it was asked for so many more descriptors of the null device. */
export function leaveDescriptors(left: number, code = "EMFILE"): Disposable {
  const { openSync } = fs;
  let count = 0;
  const undo = replace({
    openSync: (path, ...rest) => {
      if (path === devNull && count++ === left)
        throw Object.assign(new Error(`${code}: open`), { code, syscall: "open" });
      return openSync(path, ...rest);
    },
  });
  return { [Symbol.dispose]: undo };
}

/** A system that says `code` when it is asked what may be done with `path`, until it is disposed. */
export function refuseUseOf(path: string, code: "EACCES" | "EPERM" | "EROFS"): Disposable {
  const { accessSync } = fs;
  const undo = replace({
    accessSync(asked, mode) {
      if (asked === path) throw Object.assign(new Error(`${code}: access`), { code, syscall: "access" });
      accessSync(asked, mode);
    },
  });
  return { [Symbol.dispose]: undo };
}

/** What the system says of every disk, until it is disposed. */
export function sayOfDisks(said: { readonly blocks: number; readonly bavail: number }): Disposable {
  const { statfsSync } = fs;
  const undo = replace({
    statfsSync: ((path: string) => ({ ...statfsSync(path), bsize: 1, ...said })) as typeof fs.statfsSync,
  });
  return { [Symbol.dispose]: undo };
}

function replace(calls: Partial<typeof fs>): () => void {
  const former = Object.fromEntries(Object.keys(calls).map((name) => [name, fs[name as keyof typeof fs]]));
  const put = (those: object): void => {
    Object.assign(fs, those);
    syncBuiltinESMExports();
  };
  put(calls);
  return () => put(former);
}

/** Does it as a user who may look into no folder that is for its owner only. Needs root. */
export function asAnybody<T>(work: () => T): T {
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}
