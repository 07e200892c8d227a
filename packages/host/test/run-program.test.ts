import { describe, expect, test } from "vitest";
import { type FlagTable, type Program, runProgram, UsageError } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const FLAGS = {
  loud: { name: "loud", initial: false as boolean, help: "say more" },
  names: { name: "name", value: "NAME", initial: [] as readonly string[], help: "one of them" },
} as const satisfies FlagTable;

async function ran(args: readonly string[], run: Program<typeof FLAGS>["run"] = async () => "stopped") {
  const host = new StandIn({ args });
  const program = { name: "probe", version: "1.2.3", flags: FLAGS, notes: "Steered by PROBE_FILE.\n", run };
  const code = await runProgram(program, host.process);
  return { code, stdout: host.stdout.text, stderr: host.stderr.text };
}

describe("contract 7: a program", () => {
  test("is run with what its flags say", async () => {
    const { code } = await ran(["-loud", "-name", "a", "--name=b"], async (flags) => {
      expect(flags).toMatchObject({ loud: true, names: ["a", "b"] });
      return "terminal";
    });
    expect(code).toBe(1);
  });

  test("has -help, with its notes, and -version", async () => {
    const { code, stdout } = await ran(["-help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^usage: probe \[flags\]\n\n {2}-loud .*say more\n.*-name NAME.*-version.*-help.*\n\nSteered by/s,
    );
    expect(await ran(["-version"])).toEqual({ code: 0, stdout: "probe 1.2.3\n", stderr: "" });
  });

  test.each([
    [["-lound"], "unknown flag -lound"],
    [["-help=1"], '-help is true or false, not "1"'],
    [["-lo\u001b[31m\u009bund"], String.raw`unknown flag -lo\u001b[31m\u009bund`],
    [[], "they do not go together"],
  ])("spec 3.4: %j is a usage error: 2, with the usage", async (args, message) => {
    const { code, stderr } = await ran(args, () => Promise.reject(new UsageError("they do not go together")));
    expect(code).toBe(2);
    expect(stderr).toContain(`probe: ${message}\n\nusage: probe [flags]\n`);
  });

  test("ends with 1 and a sentence for whatever it throws", async () => {
    const { code, stderr } = await ran([], () => Promise.reject(new Error("it cannot")));
    expect({ code, stderr }).toEqual({ code: 1, stderr: "probe: it cannot\n" });
  });
});
