import { type FlagsOf, type FlagTable, UsageError } from "./flag-table.ts";

const FILE = "bridge.yaml";

/** The flags of a program that takes its configuration from a file, but for those that every program has. */
export const FLAGS = {
  /** The configuration file. */
  config: { name: "config", value: "FILE", initial: FILE as string, help: `the configuration (default ${FILE})` },
  /** Whether a missing configuration file means an empty bridge, rather than an error. */
  startEmpty: {
    name: "start-empty",
    initial: true as boolean,
    help: "start without routes when the file is missing (default true)",
  },
  validate: { name: "validate", initial: false as boolean, help: "check the configuration, open nothing" },
  createTables: {
    name: "create-tables",
    initial: false as boolean,
    help: "make the tables of the stores that the configuration names, where they are not there yet",
  },
  /** The configuration file to try a message from standard input with; empty: none is tried. */
  try: {
    name: "try",
    value: "FILE",
    initial: "" as string,
    help: "tell what -route of this configuration would do with the payload on standard input; send nothing",
  },
  /** With `try`: the route, the message's subject, and its headers as `name=value`. */
  route: { name: "route", value: "ID", initial: "" as string, help: "with -try: the route" },
  subject: { name: "subject", value: "TEXT", initial: "" as string, help: "with -try: the message's subject" },
  header: {
    name: "header",
    value: "NAME=VALUE",
    initial: [] as readonly string[],
    help: "with -try: one of its headers; may be repeated",
  },
} as const satisfies FlagTable;

export type Flags = FlagsOf<typeof FLAGS>;

/** @throws UsageError when flags do not go together, or a header is none */
export function checkFlags(flags: Flags): void {
  const once = [
    flags.validate && FLAGS.validate,
    flags.createTables && FLAGS.createTables,
    flags.try !== "" && FLAGS.try,
  ];
  const [first, second] = once.filter((flag) => flag !== false);
  if (first !== undefined && second !== undefined)
    throw new UsageError(`-${first.name} and -${second.name} do not go together`);
  if (flags.try !== "" && flags.route === "") throw new UsageError("-try needs the -route to try");
  const header = flags.header.find((each) => !/^[^=]+=/.test(each));
  if (header !== undefined) throw new UsageError(`-header is NAME=VALUE, not ${JSON.stringify(header)}`);
  const tries = { route: flags.route !== "", subject: flags.subject !== "", header: flags.header.length > 0 };
  const lone = flags.try === "" ? Object.entries(tries).find(([, given]) => given)?.[0] : undefined;
  if (lone !== undefined) throw new UsageError(`-${lone} goes with -try`);
}
