/**
 * Holds docs/map.md against the repository and against docs/interface.md: every path in it exists, every number of the
 * interface that is not marked "(later)" has a row with a file and a test, and there is no row for a number that is not
 * there. Run by `pnpm check`. @module
 */
import { existsSync, readFileSync } from "node:fs";
import { exit } from "node:process";

/** `### 2.3 Route`, `**4.6.8** …`, `**C.1 Receiver.** …`; the number, and the rest of a heading. */
const NUMBER = /^(?:#+ |\*\*)([1-9A-Z](?:\.\d+)*)\.?(?:\*\* *| +)(.*)$/gm;
const LATER = /\(later\)$|^_\(later\)_/;
const ROW = /^\| ([1-9A-Z](?:\.\d+)*) +\|[^|]+\|([^|]+)\|([^|]+)\|$/gm;
const PATH = /`([^`]+)`/g;

const interfaceDocument = readFileSync("docs/interface.md", "utf8");
const numbers = new Map<string, "now" | "later">();
for (const [, number = "", rest = ""] of interfaceDocument.matchAll(NUMBER)) {
  const parent = number.slice(0, Math.max(0, number.lastIndexOf(".")));
  const isLater = LATER.test(rest.trim()) || numbers.get(parent) === "later";
  numbers.set(number, isLater ? "later" : "now");
}

const problems: string[] = [];
const rows = new Set<string>();
for (const [, number = "", files = "", tests = ""] of readFileSync("docs/map.md", "utf8").matchAll(ROW)) {
  if (rows.has(number)) problems.push(`docs/map.md has two rows for ${number}`);
  rows.add(number);
  if (!numbers.has(number)) problems.push(`docs/map.md has a row for ${number}, which docs/interface.md does not have`);
  for (const [kind, cell] of [
    ["file", files],
    ["test", tests],
  ] as const) {
    const paths = Array.from(cell.matchAll(PATH), ([, path = ""]) => path);
    if (paths.length === 0) problems.push(`docs/map.md names no ${kind} for ${number}`);
    for (const path of paths) if (!existsSync(path)) problems.push(`docs/map.md ${number}: there is no ${path}`);
  }
}
for (const [number, when] of numbers) {
  const isContainer = [...numbers.keys()].some((other) => other.startsWith(`${number}.`));
  if (when === "now" && !isContainer && !rows.has(number)) problems.push(`docs/map.md has no row for ${number}`);
}
if (numbers.size === 0 || rows.size === 0) problems.push("docs/interface.md has no numbers, or docs/map.md no rows");
for (const problem of problems) console.error(problem);
exit(problems.length === 0 ? 0 : 1);
