/** Reads command lines as a table of flags says. @module */

interface Named {
  readonly name: string;
  readonly help: string;
}

/** On or off. */
interface OnOff extends Named {
  readonly initial: boolean;
}

/** Holds a text; `value` is what the usage calls it. */
interface Text extends Named {
  readonly value: string;
  readonly initial: string;
}

/** Holds each text that it is given. */
interface Texts extends Named {
  readonly value: string;
  readonly initial: readonly string[];
}

/** The flags of a program, by the name that its code calls them. */
export type FlagTable = Readonly<Record<string, OnOff | Text | Texts>>;

/** What a command line asks for. */
export type FlagsOf<Table extends FlagTable> = {
  readonly [Key in keyof Table]: Table[Key] extends OnOff
    ? boolean
    : Table[Key] extends Texts
      ? readonly string[]
      : string;
};

/** A command line that is not one of ours; the message is for whoever typed it. */
export class UsageError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "UsageError" });
  }
}

/**
 * Reads flags with one or two dashes, and a value after `=` or as the next argument. The last of its kind wins, but for
 * those that hold several.
 * @throws UsageError for an unknown flag, a bad value, or an argument that is no flag
 */
export function parseFlags<const Table extends FlagTable>(table: Table, args: readonly string[]): FlagsOf<Table> {
  const rows = new Map(Object.entries(table).map(([key, row]) => [row.name, { key, row }]));
  const flags = new Map(Object.entries(table).map(([key, { initial }]) => [key, initial]));
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const name = flagIn(arg);
    const attached = arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : undefined;
    if (name === undefined) throw new UsageError(`unexpected argument ${JSON.stringify(arg)}`);
    const known = rows.get(name);
    if (known === undefined) throw new UsageError(`unknown flag -${name}`);
    const { key, row } = known;
    if (!("value" in row)) flags.set(key, onOrOff(row, attached, rest));
    else {
      const next = attached === undefined ? flagIn(rest[0]) : undefined;
      if (next !== undefined && rows.has(next))
        throw new UsageError(`-${name} needs ${article(row.value)}, and the flag -${next} follows`);
      const value = text(row, attached ?? rest.shift());
      const former = flags.get(key);
      flags.set(key, Array.isArray(former) ? [...(former as readonly string[]), value] : value);
    }
  }
  return Object.fromEntries(flags) as FlagsOf<Table>;
}

/** The flag that an argument names, known or not. */
function flagIn(arg: string | undefined): string | undefined {
  return /^--?([^-=][^=]*)/s.exec(arg ?? "")?.[1];
}

function article(kind: string): string {
  return `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;
}

function onOrOff({ name }: OnOff, attached: string | undefined, rest: string[]): boolean {
  const value = attached ?? (rest[0] === "true" || rest[0] === "false" ? rest.shift() : "true");
  if (value !== "true" && value !== "false")
    throw new UsageError(`-${name} is true or false, not ${JSON.stringify(value)}`);
  return value === "true";
}

function text({ name, value: kind }: Text | Texts, value: string | undefined): string {
  if (value === undefined || value === "") throw new UsageError(`-${name} needs ${article(kind)}`);
  return value;
}

/** What `-help` prints, and what follows the complaint about a command line. */
export function usage(program: string, table: FlagTable): string {
  const rows = Object.values(table).map((row) => {
    const value = "value" in row ? row.value : "";
    return `  ${`-${row.name} ${value}`.padEnd(18)} ${row.help}\n`;
  });
  return `usage: ${program} [flags]\n\n${rows.join("")}`;
}
