/** What the command line asks for. */
export interface Flags {
  /** The configuration file. */
  readonly config: string;
  /** Whether a missing configuration file means an empty bridge, rather than an error. */
  readonly startEmpty: boolean;
  readonly validate: boolean;
  /** The configuration file to try a message from standard input with; empty: none is tried. */
  readonly try: string;
  /** With `try`: the route, the message's subject, and its headers as `name=value`. */
  readonly route: string;
  readonly subject: string;
  readonly header: readonly string[];
  readonly version: boolean;
  readonly help: boolean;
}

/** A command line that is not one of ours; the message is for whoever typed it. */
export class UsageError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "UsageError" });
  }
}

interface Row {
  readonly name: string;
  readonly key: keyof Flags;
  /** What a value of the flag is called; `undefined` for one that is on or off. */
  readonly value: string | undefined;
  readonly help: string;
}

const DEFAULTS: Flags = {
  config: "bridge.yaml",
  startEmpty: true,
  validate: false,
  try: "",
  route: "",
  subject: "",
  header: [],
  version: false,
  help: false,
};

const ROWS: readonly Row[] = [
  { name: "config", key: "config", value: "FILE", help: `the configuration (default ${DEFAULTS.config})` },
  {
    name: "start-empty",
    key: "startEmpty",
    value: undefined,
    help: "start without routes when the file is missing (default true)",
  },
  { name: "validate", key: "validate", value: undefined, help: "check the configuration, open nothing" },
  {
    name: "try",
    key: "try",
    value: "FILE",
    help: "tell what -route of this configuration would do with the payload on standard input; send nothing",
  },
  { name: "route", key: "route", value: "ID", help: "with -try: the route" },
  { name: "subject", key: "subject", value: "TEXT", help: "with -try: the message's subject" },
  { name: "header", key: "header", value: "NAME=VALUE", help: "with -try: one of its headers; may be repeated" },
  { name: "version", key: "version", value: undefined, help: "print the version" },
  { name: "help", key: "help", value: undefined, help: "print this" },
];

/**
 * Reads flags with one or two dashes, and a value after `=` or as the next argument. The last of its kind wins, but for headers.
 * @throws UsageError for an unknown flag, a bad value, or an argument that is no flag
 */
export function parseFlags(args: readonly string[]): Flags {
  const flags: Record<keyof Flags, string | boolean | readonly string[]> = { ...DEFAULTS };
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, attached] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === undefined) throw new UsageError(`unexpected argument ${JSON.stringify(arg)}`);
    const row = ROWS.find((each) => each.name === name);
    if (row === undefined) throw new UsageError(`unknown flag -${name}`);
    const value = row.value === undefined ? onOrOff(row, attached, rest) : text(row, attached ?? rest.shift());
    flags[row.key] = row.key === "header" ? [...(flags.header as readonly string[]), value as string] : value;
  }
  return checked(flags as Record<keyof Flags, string | boolean | readonly string[]> & Flags);
}

function checked(flags: Flags): Flags {
  if (flags.try !== "" && flags.route === "") throw new UsageError("-try needs the -route to try");
  const header = flags.header.find((each) => !/^[^=]+=/.test(each));
  if (header !== undefined) throw new UsageError(`-header is NAME=VALUE, not ${JSON.stringify(header)}`);
  return flags;
}

function onOrOff({ name }: Row, attached: string | undefined, rest: string[]): boolean {
  const value = attached ?? (rest[0] === "true" || rest[0] === "false" ? rest.shift() : "true");
  if (value !== "true" && value !== "false")
    throw new UsageError(`-${name} is true or false, not ${JSON.stringify(value)}`);
  return value === "true";
}

function text({ name, value: kind = "value" }: Row, value: string | undefined): string {
  if (value === undefined || value === "") throw new UsageError(`-${name} needs a ${kind}`);
  return value;
}

/** What `-help` prints, and what follows the complaint about a command line. */
export function usage(program: string): string {
  const rows = ROWS.map(({ name, value = "", help }) => `  ${`-${name} ${value}`.padEnd(18)} ${help}\n`);
  return `usage: ${program} [flags]\n\n${rows.join("")}`;
}
