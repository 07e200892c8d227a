import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import process from "node:process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { BINARY, EXAMPLE_ENV } from "./support/example.ts";
import { EXAMPLES } from "./support/program.ts";

const files = globSync("*.yaml", { cwd: EXAMPLES });

describe("example configurations", () => {
  test.for(files)("%s is valid, with nothing to warn of, in the environment of example.env", async (file) => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [BINARY, "-validate", "-config", `${EXAMPLES}${file}`],
      { env: EXAMPLE_ENV },
    );
    expect(stderr).toBe("");
    expect(stdout).toContain("valid");
  });

  test.for(files)("%s names the schema that editors check it with", (file) => {
    const [, schema] =
      /^# yaml-language-server: \$schema=(.+)$/m.exec(readFileSync(`${EXAMPLES}${file}`, "utf8")) ?? [];
    expect(JSON.parse(readFileSync(`${EXAMPLES}${schema}`, "utf8"))).toHaveProperty("$schema");
  });

  test("example.env has nothing that no example refers to", () => {
    const used = files.flatMap((file) => [...readFileSync(`${EXAMPLES}${file}`, "utf8").matchAll(/\$\{env:(\w+)\}/g)]);
    expect(new Set(used.map((match) => match[1]))).toEqual(new Set(Object.keys(EXAMPLE_ENV)));
  });
});
