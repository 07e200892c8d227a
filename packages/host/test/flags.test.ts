import { describe, expect, test } from "vitest";
import { parseFlags as parse, usage, UsageError } from "../src/flag-table.ts";
import { checkFlags, type Flags, FLAGS } from "../src/flags.ts";

function parseFlags(args: readonly string[]): Flags {
  const flags = parse(FLAGS, args);
  checkFlags(flags);
  return flags;
}

const DEFAULTS = {
  config: "bridge.yaml",
  startEmpty: true,
  validate: false,
  createTables: false,
  try: "",
  route: "",
  subject: "",
  header: [],
};

describe("contract 7: flags", () => {
  test("without any, the defaults", () => {
    expect(parseFlags([])).toEqual(DEFAULTS);
  });

  test.each([["-config", "a.yaml"], ["--config", "a.yaml"], ["-config=a.yaml"], ["--config=a.yaml"]])(
    "one or two dashes, = or a space: %s %s",
    (...args) => {
      expect(parseFlags(args)).toEqual({ ...DEFAULTS, config: "a.yaml" });
    },
  );

  test.each([
    ["-start-empty=false", false],
    ["--start-empty=false", false],
    ["-start-empty=true", true],
    ["-start-empty", true],
  ])("%s", (arg, startEmpty) => {
    expect(parseFlags([arg])).toEqual({ ...DEFAULTS, startEmpty });
  });

  test("on and off after a space", () => {
    expect(parseFlags(["-start-empty", "false", "-validate", "true"])).toEqual({
      ...DEFAULTS,
      startEmpty: false,
      validate: true,
    });
  });

  test("-validate is off unless it is there", () => {
    expect(parseFlags(["-validate"])).toEqual({ ...DEFAULTS, validate: true });
    expect(parseFlags(["--validate=false"])).toEqual(DEFAULTS);
  });

  test("a value may hold = and dashes, and the last of a kind wins", () => {
    expect(parseFlags(["-config=x", "-config", "--odd=name.yaml"]).config).toBe("--odd=name.yaml");
    expect(parseFlags(["-config=a=b"]).config).toBe("a=b");
  });

  test("a message to try: its headers add up", () => {
    const args = ["-try", "a.yaml", "-route=r", "-subject", "s", "-header", "a=1", "-header=b=2=3"];
    expect(parseFlags(args)).toEqual({
      ...DEFAULTS,
      try: "a.yaml",
      route: "r",
      subject: "s",
      header: ["a=1", "b=2=3"],
    });
  });

  test.each([
    [["-try", "a.yaml"], "-try needs the -route to try"],
    [["-header", "a"], '-header is NAME=VALUE, not "a"'],
    [["-header", "=a"], '-header is NAME=VALUE, not "=a"'],
    [["-cofnig", "x"], "unknown flag -cofnig"],
    [["--no-such=1"], "unknown flag -no-such"],
    [["bridge.yaml"], 'unexpected argument "bridge.yaml"'],
    [["-validate", "bridge.yaml"], 'unexpected argument "bridge.yaml"'],
    [["--"], 'unexpected argument "--"'],
    [["-"], 'unexpected argument "-"'],
    [[""], 'unexpected argument ""'],
    [["---config=x"], 'unexpected argument "---config=x"'],
    [["-config"], "-config needs a FILE"],
    [["-config="], "-config needs a FILE"],
    [["-config", "-validate"], "-config needs a FILE, and the flag -validate follows"],
    [["-try", "--route=r"], "-try needs a FILE, and the flag -route follows"],
    [["-try", "a.yaml", "-route"], "-route needs an ID"],
    [["-route", "r"], "-route goes with -try"],
    [["-header", "a=1"], "-header goes with -try"],
    [["-config", ""], "-config needs a FILE"],
    [["-start-empty=maybe"], '-start-empty is true or false, not "maybe"'],
    [["-start-empty="], '-start-empty is true or false, not ""'],
    [["-validate=1"], '-validate is true or false, not "1"'],
    [["-constructor"], "unknown flag -constructor"],
  ])("%j is refused", (args, message) => {
    expect(() => parseFlags(args)).toThrow(new UsageError(message));
  });

  test("the usage names every flag", () => {
    const text = usage("bridge", FLAGS);
    for (const flag of ["-config FILE", "-start-empty", "-validate"]) expect(text).toContain(flag);
  });
});
