import { parseArgs } from "node:util";
import { readSmallFile } from "@bridge/ports/internal";
import { foundWords } from "./resumption.ts";
import { type Verification, verifyFiles } from "./verify.ts";

const USAGE = `usage: bridge-audit verify [-head HASH] [-key-file FILE]... [-keyed-from N] FILE...

  -head HASH      the hash of a record, from the log: finds a tail that was cut off
  -key-file FILE  the key of the HMACs; may be repeated when there was another one before
  -keyed-from N   the first record with an HMAC, if the key was set later; records before it prove nothing

The files of one chain, in any order. Exit codes: 0 no break, 1 a break, 2 wrong usage or a file that cannot be read.
`;

/** Where the command writes. */
export interface Output {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** `bridge-audit`: resolves to its exit code. */
export async function bridgeAudit(args: readonly string[], { stdout, stderr }: Output): Promise<0 | 1 | 2> {
  const asked = parse(args);
  if (typeof asked === "string") {
    stderr.write(asked === "" ? USAGE : `bridge-audit: ${asked}\n\n${USAGE}`);
    return 2;
  }
  if (asked.help) {
    stdout.write(USAGE);
    return 0;
  }
  try {
    const keys = await Promise.all(asked.keyFiles.map(readKey));
    const result = await verifyFiles(asked.files, { keys, keyedFrom: asked.keyedFrom, head: asked.head });
    for (const line of report(result)) stdout.write(`${line}\n`);
    return result.break === undefined ? 0 : 1;
  } catch (error) {
    stderr.write(`bridge-audit: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

interface Asked {
  readonly files: readonly string[];
  readonly keyFiles: readonly string[];
  readonly keyedFrom: number | undefined;
  readonly head: string | undefined;
  readonly help: boolean;
}

/** What is asked for, or what is wrong with the asking. */
function parse(args: readonly string[]): Asked | string {
  try {
    const { values, positionals } = parseArgs({
      // One dash or two, as the bridge takes them.
      args: args.map((arg) => (/^-[a-z]/.test(arg) ? `-${arg}` : arg)),
      options: {
        head: { type: "string" },
        "key-file": { type: "string", multiple: true },
        "keyed-from": { type: "string" },
        help: { type: "boolean" },
      },
      allowPositionals: true,
    });
    const [command, ...files] = positionals;
    const { head, "key-file": keyFiles = [], "keyed-from": from, help = false } = values;
    const keyedFrom = from === undefined ? undefined : Number(from);
    const asked = { files, keyFiles, keyedFrom, head, help };
    if (help) return asked;
    if (command !== "verify") return command === undefined ? "" : `unknown command ${JSON.stringify(command)}`;
    if (files.length === 0) return "no files were named";
    if (head !== undefined && !/^[0-9a-f]{64}$/i.test(head)) return "-head takes the 64 hexadecimal digits of a hash";
    if (from !== undefined && !/^[1-9]\d{0,14}$/.test(from)) return "-keyed-from takes the number of a record";
    if (from !== undefined && keyFiles.length === 0) return "-keyed-from goes with -key-file";
    return asked;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const MAX_KEY_BYTES = 65_536;

/** As `${file:…}` of a configuration reads it: without its last line break. */
async function readKey(path: string): Promise<string> {
  const key = (await readSmallFile(path, MAX_KEY_BYTES)).toString("utf8").replace(/\r?\n$/, "");
  if (key === "") throw new Error(`${path} holds no key`);
  return key;
}

function* report(result: Verification): Generator<string> {
  for (const { path, first, last } of result.files)
    yield first === 0 ? `${path}: no records` : `${path}: records ${first} to ${last}`;
  const first = result.files.find((file) => file.first > 0)?.first ?? 0;
  if (first > 1) yield `the records before record ${first} are in none of these files`;
  for (const { file, line, ...resumption } of result.resumed) {
    const found = [...foundWords(resumption)];
    yield `${file}:${line}: the bridge went on with record ${resumption.seq}${found.length > 0 ? `: ${found.join(", ")}` : ""}`;
  }
  for (const { file, line, seq, merged, actions } of result.merged) {
    const each = Object.entries(actions).map(([action, count]) => `${count} ${action}`);
    yield `${file}:${line}: record ${seq} stands for ${merged} calls that changed nothing: ${each.join(", ")}`;
  }
  if (result.torn !== undefined)
    yield `${result.torn.file}: the last line, ${result.torn.bytes} bytes, was not written to its end, as a crash leaves it`;
  if (result.break !== undefined) yield `BREAK ${result.break.file}:${result.break.line}: ${result.break.message}`;
  else yield `ok: ${result.records} records, head ${result.head}`;
}
