import { readFileSync } from "node:fs";

export interface Instruction {
  /** Such as `COPY`. */
  readonly name: string;
  readonly rest: string;
}

/** A Dockerfile by its stages; the first one is what stands before any `FROM`. */
export function stagesOf(path: string): readonly (readonly Instruction[])[] {
  const text = readFileSync(path, "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", "");
  const stages: Instruction[][] = [[]];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const [, name = "", rest = ""] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, rest });
  }
  return stages;
}

/** What the instructions of a name say. */
export function said(stage: readonly Instruction[] | undefined, name: string): readonly string[] {
  return (stage ?? []).filter((instruction) => instruction.name === name).map(({ rest }) => rest);
}
