import { existsSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";

/** A mutant that no test can tell from the code, and why. It has no line number, so that it outlives changes elsewhere. */
export interface NamedMutant {
  /** The code that is mutated, with the rest of its lines, in one line. */
  readonly code: string;
  /** What the mutant makes of it. */
  readonly becomes: string;
  readonly why: string;
}

/** What is said of a mutant, of which a name has the first two. */
export interface Mutant {
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly replacement?: string | undefined;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Beside the package; the names of each source file. */
const FILE = "equivalent-mutants.json";
const MAX_LENGTH = 200;
/** Behind what was too long. */
const CUT = /…$/u;

/** The mutants of a package that are named as equivalent. */
export class NamedMutants {
  readonly #names: ReadonlyMap<string, { readonly file: string; readonly name: NamedMutant }>;
  readonly #packageFolder: string;

  constructor(packageFolder: string) {
    this.#packageFolder = packageFolder;
    const files = namesIn(packageFolder);
    this.#names = new Map(
      Object.entries(files).flatMap(([file, names]) => names.map((name) => [keyOf(file, name), { file, name }])),
    );
  }

  has(mutant: Mutant): boolean {
    return this.#names.has(keyOf(this.fileOf(mutant), describeMutant(mutant)));
  }

  /** Names in the files of `mutants` that are those of none of them: the code has changed. */
  strangers(mutants: readonly Mutant[]): string[] {
    const keys = new Set(mutants.map((mutant) => keyOf(this.fileOf(mutant), describeMutant(mutant))));
    const looked = new Set(mutants.map((mutant) => this.fileOf(mutant)));
    return [...this.#names].flatMap(([key, { file, name }]) =>
      looked.has(file) && !keys.has(key) ? [`${FILE}: ${file} has no mutant "${name.code}" → "${name.becomes}"`] : [],
    );
  }

  /** Its file, as names have it. */
  fileOf({ fileName }: Mutant): string {
    return relative(this.#packageFolder, fileName).replaceAll("\\", "/");
  }
}

/** Names whose code stands no more in its file: known without a run. */
export function lostNames(packageFolder: string): string[] {
  return Object.entries(namesIn(packageFolder)).flatMap(([file, names]) => {
    const path = resolve(packageFolder, file);
    const source = existsSync(path) ? readFileSync(path, "utf8").replace(/\s+/g, " ") : "";
    return names.flatMap(({ code }) => (source.includes(code.replace(CUT, "")) ? [] : [`${file}: ${code}`]));
  });
}

function namesIn(packageFolder: string): Readonly<Record<string, readonly NamedMutant[]>> {
  const path = resolve(packageFolder, FILE);
  if (!existsSync(path)) return {};
  return JSON.parse(readFileSync(path, "utf8")) as Readonly<Record<string, readonly NamedMutant[]>>;
}

/** The lines of a mutant as they are and as it makes them, each in one line. */
export function describeMutant({ fileName, location: { start, end }, replacement = "" }: Mutant): {
  readonly code: string;
  readonly becomes: string;
} {
  const lines = readFileSync(fileName, "utf8")
    .split("\n")
    .slice(start.line - 1, end.line);
  const before = (lines[0] ?? "").slice(0, start.column - 1);
  const after = (lines.at(-1) ?? "").slice(end.column - 1);
  return { code: inOneLine(lines.join(" ")), becomes: inOneLine(before + replacement + after) };
}

function inOneLine(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}

function keyOf(file: string, { code, becomes }: Pick<NamedMutant, "code" | "becomes">): string {
  return `${file}\n${code}\n${becomes}`;
}
