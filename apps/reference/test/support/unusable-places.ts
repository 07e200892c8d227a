import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Binary } from "./binary.ts";
import { Folder } from "./folder.ts";

/** Nobody on any system: what belongs to root is another one's to this user. */
export const NOBODY = 65_534;
const ROOT = 0;

/** A folder that everybody may read, and a bridge that runs as nobody. */
export class NobodysFolder extends Folder {
  constructor() {
    super();
    chmodSync(this.path, 0o755);
  }

  override run(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}, umask = "022"): Binary {
    return new Binary(args, { cwd: this.path, uid: NOBODY, env, umask });
  }

  /** Nobody's own folder, in which nothing is. */
  own(name: string): string {
    const folder = join(this.path, name);
    mkdirSync(folder);
    give(folder, NOBODY);
    return folder;
  }
}

export interface Harm {
  readonly name: string;
  /** What is said of the path, after it has been named. */
  readonly words: RegExp;
  /** To the place of a file that may be there, in a folder of nobody. */
  readonly begin: (path: string) => void;
  readonly end?: (path: string) => void;
}

const ALLOW = /: let the user that the bridge runs as do that \(chown, chmod\), or name another path/;
const NAME = /: name a file, which is made when it is missing/;
const FOLDER = new RegExp(String.raw`lies in ".*", a folder that this user may not write to${ALLOW.source}`);
const FILE = new RegExp(`is a file that this user may not read and write${ALLOW.source}`);
const beside = (part: string): RegExp =>
  new RegExp(`has ".*${part}" beside it, which this user may not read and write${ALLOW.source}`);
const isA = (what: string): RegExp => new RegExp(what + NAME.source);

/** Those that may come over a file that is in use. */
export const PERMISSIONS: readonly Harm[] = [
  modes("a folder of another owner", FOLDER, dirname, ROOT, 0o755),
  modes("a closed folder of another owner", FOLDER, dirname, ROOT, 0o700),
  modes("a read-only folder", FOLDER, dirname, NOBODY, 0o500),
  modes("a file of another owner", FILE, (path) => path, ROOT, 0o600),
  modes("a read-only file", FILE, (path) => path, NOBODY, 0o400),
  modes("a lock of another owner", beside("-lock"), (path) => `${path}-lock`, ROOT, 0o600),
  modes("a mark of another owner", beside("-mark"), (path) => `${path}-mark`, ROOT, 0o600),
];

/** Those that are there before the file is. */
export const PLACES: readonly Harm[] = [
  ...PERMISSIONS,
  {
    name: "a log of another owner",
    words: beside("-wal"),
    begin: (path) => writeFileSync(`${path}-wal`, "", { mode: 0o600 }),
  },
  {
    name: "a folder that is missing in one of another owner",
    words: FOLDER,
    begin(path) {
      rmSync(dirname(path), { recursive: true });
      chownSync(dirname(dirname(path)), ROOT, ROOT);
    },
  },
  { name: "a folder in its place", words: isA("is a folder"), begin: (path) => mkdirSync(path) },
  {
    name: "a pipe in its place",
    words: isA("is no regular file"),
    begin: (path) => void execFileSync("sh", ["-c", `mkfifo -m 666 "$0"`, path]),
  },
  { name: "a device in its place", words: isA("is no regular file"), begin: (path) => symlinkSync("/dev/full", path) },
  {
    name: "a link into a folder of another owner, to nothing",
    words: FOLDER,
    begin: (path) => symlinkSync("/nobodys/file", path),
  },
  {
    name: "a folder in place of its lock",
    words: isA('has ".*-lock" beside it, which is no file'),
    begin: (path) => mkdirSync(`${path}-lock`),
  },
  {
    name: "somebody's file in place of its lock",
    words: isA('has ".*-lock" beside it, which is no lock of a bridge'),
    begin(path) {
      writeFileSync(`${path}-lock`, "somebody's");
      chownSync(`${path}-lock`, NOBODY, NOBODY);
    },
  },
];

function modes(name: string, words: RegExp, of: (path: string) => string, owner: number, mode: number): Harm {
  return {
    name,
    words,
    begin(path) {
      const harmed = of(path);
      if (harmed !== dirname(path)) closeSync(openSync(harmed, "a"));
      chownSync(harmed, owner, owner);
      chmodSync(harmed, mode);
    },
    end: (path) => give(of(path), NOBODY),
  };
}

function give(path: string, owner: number): void {
  chownSync(path, owner, owner);
  chmodSync(path, basename(path).includes(".") ? 0o600 : 0o700);
}
