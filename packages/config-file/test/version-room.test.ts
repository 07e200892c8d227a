import { readFileSync, writeFileSync } from "node:fs";
import { createRegistry } from "@bridge/config";
import { describe, expect, it } from "vitest";
import { formatLocatedProblem, loadConfigFile } from "../src/index.ts";
import { committing } from "./support/committing.ts";

const NEVER = new AbortController().signal;
const LARGEST = 999_999_999_999_999;

async function problemsOf(path: string): Promise<readonly string[]> {
  const loaded = await loadConfigFile(path, createRegistry({}), { env: {}, signal: NEVER });
  if (loaded === "missing") throw new Error("the file was not found");
  return loaded.ok ? [] : loaded.problems.map(formatLocatedProblem);
}

describe("finding 4.9.5: a version at the edge", () => {
  it.each([LARGEST + 1, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e300])(
    "%d is refused of a document, with its name, its value and what to do",
    async (version) => {
      await using file = committing(`config_version: ${version}\nbridge: {id: plant-7}\n`);
      expect(await problemsOf(file.path)).toEqual([
        expect.stringMatching(/config_version: expected an integer from 0 to 999999999999999: leave it out, .* \(got /),
      ]);
    },
  );

  it("the largest one is taken by a start, and a commit after it is refused before anything is written", async () => {
    const text = `config_version: ${LARGEST}\nbridge: {id: plant-7}\n`;
    await using file = committing(text);
    expect(await problemsOf(file.path)).toEqual([]);
    expect(await file.commit("bridge: {id: plant-8}\n")).toEqual({
      status: "invalid",
      problems: [
        { path: ["config_version"], message: expect.stringMatching(/is 999999999999999, .* by hand/) as unknown },
      ],
    });
    expect(readFileSync(file.path, "utf8")).toBe(text);
  });

  it("what a refused commit says helps", async () => {
    await using file = committing(`config_version: ${LARGEST}\nbridge: {id: plant-7}\n`);
    const { id } = await file.transactions.open(60_000, NEVER);
    const { problems } = await file.transactions.patch(id, { bridge: { log_level: "debug" } }, NEVER);
    expect(problems).toMatchObject([{ path: ["config_version"] }]);
    file.transactions.rollback(id);
    writeFileSync(file.path, "bridge: {id: plant-7}\n");
    expect(await file.commit("bridge: {id: plant-8}\n")).toEqual({ status: "committed", version: 1 });
    expect(await problemsOf(file.path)).toEqual([]);
  });

  it.each([LARGEST - 1, LARGEST, Number.MAX_SAFE_INTEGER, 1e300])(
    "%d in a line of the history, which nobody has committed, is in the way of no commit",
    async (version) => {
      await using file = committing("config_version: 5\nbridge: {id: plant-7}\n");
      const line = { version, committedAt: 0, actor: "alice", changes: [] };
      writeFileSync(`${file.path}.history.jsonl`, `${JSON.stringify(line)}\n`);
      expect(await file.commit("bridge: {id: plant-8}\n")).toEqual({ status: "committed", version: 6 });
      expect(await file.commit("bridge: {id: plant-9}\n")).toEqual({ status: "committed", version: 7 });
      expect(await problemsOf(file.path)).toEqual([]);
    },
  );
});
