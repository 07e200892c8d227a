import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { INSIDE } from "./support/documents.ts";
import { Stage } from "./support/stage.ts";

const DEBUG = { bridge: { log_level: "debug" } };
const FILE = "bridge.yaml";

/** A version on probation in a process that runs. */
async function tried(stage: Stage, body: object = { confirm_within: "5m" }) {
  const answer = await stage.admin("POST", `${await stage.opened(DEBUG)}/commit`, body);
  expect(answer).toMatchObject({ status: 200, body: { status: "probation", former_version: 0, version: 1 } });
}

const note = (stage: Stage): string => join(stage.folder.path, `${FILE}.probation`);

async function killed(stage: Stage): Promise<void> {
  stage.bridge.kill("SIGKILL");
  await stage.bridge.ended;
}

async function newest(stage: Stage): Promise<unknown> {
  const { body } = await stage.admin("GET", "/config/history");
  return (body as { versions: readonly unknown[] }).versions[0];
}

describe("a change on probation, and the end of its process", () => {
  test("operators 7: killed before it is noted, or after that and before it is written, the former one runs", async () => {
    await using stage = await Stage.run(INSIDE);
    const former = stage.text;
    await tried(stage);
    await killed(stage);
    const noted = readFileSync(note(stage));
    writeFileSync(join(stage.folder.path, FILE), former);
    await stage.restart();
    await stage.health(({ config_watch: watch }) => watch.version === 0);
    expect(existsSync(note(stage))).toBe(false);
    await killed(stage);
    writeFileSync(note(stage), noted);
    await stage.restart();
    await stage.health(({ config_watch: watch }) => watch.version === 0);
    expect(stage.text).toBe(former);
    expect(existsSync(note(stage))).toBe(false);
  });

  test("operators 7: killed while it runs, the start puts the former one back to the byte, and says so", async () => {
    await using stage = await Stage.run(`# by hand\n${INSIDE}`);
    const former = stage.text;
    await tried(stage);
    expect(stage.text).not.toBe(former);
    await killed(stage);
    await stage.restart();
    await stage.bridge.logged("a configuration on probation was taken back at the start: the former one runs");
    expect(stage.text).toBe(former);
    expect(await newest(stage)).toMatchObject({ version: 1, available: true, reverted: { why: "process_ended" } });
    expect(await stage.admin("POST", "/config/confirm", { version: 1 })).toMatchObject({
      status: 409,
      body: { reason: "reverted" },
    });
  });

  test("operators 7: ended in order it goes on, at least a minute, and is confirmed by the next process", async () => {
    await using stage = await Stage.run(INSIDE);
    await tried(stage, { confirm_within: "10s" });
    stage.bridge.kill("SIGTERM");
    expect(await stage.bridge.ended).toBe(0);
    await stage.restart();
    const { body } = await stage.admin("GET", "/config");
    const { probation } = body as { probation: { version: number; confirm_by: string } };
    expect(probation.version).toBe(1);
    expect(Date.parse(probation.confirm_by) - Date.now()).toBeGreaterThan(30_000);
    expect(await stage.admin("POST", "/config/confirm", { version: 1 })).toMatchObject({
      status: 200,
      body: { status: "committed", version: 1 },
    });
    expect(existsSync(note(stage))).toBe(false);
    await killed(stage);
    await stage.restart();
    await stage.health(({ config_watch: watch }) => watch.version === 1);
    expect(await newest(stage)).toMatchObject({ version: 1 });
  });

  test("operators 7: killed while it is taken back, that is finished by the next start", async () => {
    await using stage = await Stage.run(INSIDE);
    const former = stage.text;
    await tried(stage);
    const noted = JSON.parse(readFileSync(note(stage), "utf8")) as object;
    await killed(stage);
    const reversal = { why: "level", detail: "below full for 30 s" };
    for (const text of [stage.text, former]) {
      writeFileSync(join(stage.folder.path, FILE), text);
      writeFileSync(note(stage), JSON.stringify({ ...noted, reversal }));
      await stage.restart();
      expect(await newest(stage)).toMatchObject({ version: 1, reverted: reversal });
      expect(stage.text).toBe(former);
      expect(existsSync(note(stage))).toBe(false);
      await killed(stage);
    }
  });
});
