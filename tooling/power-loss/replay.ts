/**
 * What a power loss leaves of the files of a program whose calls strace has written down. @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DiskModel, type Luck } from "./disk-model.ts";

/** A call as strace has written it down. */
interface Call {
  readonly name: string;
  readonly args: string;
  readonly result: number;
}

/** The disk and what a program had said, after each call that a trace tells of. */
export interface Moment {
  readonly disk: DiskModel;
  readonly said: readonly string[];
  /** How many syncs have failed. */
  readonly failed: number;
}

/** The files of a folder, but for locks. */
export function filesIn(folder: string): ReadonlyMap<string, Buffer> {
  const names = readdirSync(folder).filter((name) => !name.endsWith("-lock"));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

const CALL = /^\d+ +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)\) += (-?\d+)/;
const UNFINISHED = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/;

/** Lives through the calls of a program in `folder` again, as strace has written them down; gives each moment in turn. */
export function* replay(
  trace: string,
  folder: string,
  before: ReadonlyMap<string, Buffer>,
  luck: Luck,
): Generator<Moment> {
  const disk = new DiskModel(luck);
  for (const [name, bytes] of before) disk.make(name).write(bytes, 0, "");
  for (const name of before.keys()) disk.file(name)?.sync("")(true, luck);
  disk.sync()(true, luck);
  const begun = new Map<string, { readonly args: string; readonly end: Sync | undefined }>();
  const said: string[] = [];
  let failed = 0;

  const beginSync = (args: string): Sync | undefined => {
    const path = pathOf(args);
    if (path === folder) return disk.sync();
    return inFolder(path, folder) ? disk.file(basename(path))?.sync(handleOf(args)) : undefined;
  };

  for (const line of trace.split("\n")) {
    const [pid = ""] = line.split(" ");
    const [, , started, startedArgs = ""] = UNFINISHED.exec(line) ?? [];
    if (started !== undefined) {
      begun.set(pid, { args: startedArgs, end: started.endsWith("sync") ? beginSync(startedArgs) : undefined });
      continue;
    }
    const [, name, rest = "", result = ""] = CALL.exec(line) ?? [];
    if (name === undefined) continue;
    const former = line.includes("<... ") ? begun.get(pid) : undefined;
    const call: Call = { name, args: (former?.args ?? "") + rest, result: Number(result) };
    if (name.endsWith("sync")) {
      const end = former === undefined ? beginSync(call.args) : former.end;
      if (end === undefined) continue;
      end(call.result === 0, luck);
      if (call.result !== 0) failed++;
    } else if (call.result < 0) continue;
    else if (name === "write" && call.args.startsWith("1<")) said.push(stringsOf(call.args)[0]?.toString() ?? "");
    else if (!change(disk, folder, call)) continue;
    yield { disk, said, failed };
  }
}

type Sync = (good: boolean, luck: Luck) => void;

/** Whether that was about a file of the folder. */
function change(disk: DiskModel, folder: string, { name, args, result }: Call): boolean {
  const strings = stringsOf(args);
  if (name === "rename" || name === "unlink") {
    const [from = "", to = ""] = strings.map(String);
    if (!inFolder(from, folder)) return false;
    if (name === "rename") disk.rename(basename(from), basename(to));
    else disk.unlink(basename(from));
    return true;
  }
  if (name === "openat") {
    const path = String(strings.at(0) ?? "");
    if (!inFolder(path, folder) || !args.includes("O_CREAT")) return false;
    const file = disk.make(basename(path));
    if (args.includes("O_TRUNC")) file.truncate(0, String(result));
    return true;
  }
  const path = pathOf(args);
  const file = inFolder(path, folder) ? disk.file(basename(path)) : undefined;
  if (file === undefined) return false;
  const number = Number(/, (\d+)$/.exec(args)?.[1]);
  // Without a place for it a file is only ever appended to; the number is how much there was to write then.
  const handle = handleOf(args);
  if (name === "ftruncate") file.truncate(number, handle);
  else {
    const at = name === "write" ? file.cached.length : number;
    file.write((strings[0] ?? Buffer.alloc(0)).subarray(0, result), at, handle);
  }
  return true;
}

function inFolder(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`) && !path.endsWith("(deleted)");
}

/** The number of the handle that is the first argument. */
function handleOf(args: string): string {
  return /^\d+/.exec(args)?.[0] ?? "";
}

/** Of the handle that is the first argument. */
function pathOf(args: string): string {
  return decode(/^\d+<([^>]*)>/.exec(args)?.[1] ?? "").toString();
}

function stringsOf(args: string): readonly Buffer[] {
  return [...args.matchAll(/"((?:\\x[\da-f]{2})*)"/g)].map(([, text = ""]) => decode(text));
}

function decode(text: string): Buffer {
  return text.includes("\\x") ? Buffer.from(text.replaceAll("\\x", ""), "hex") : Buffer.from(text);
}
