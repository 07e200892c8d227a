import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { freePort } from "@bridge/tooling/listening";
import { describe, expect, test } from "vitest";
import { INSIDE, webToWeb } from "./support/documents.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";
import { post } from "./support/traffic.ts";
import { until } from "./support/until.ts";

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

/** A change that restarts the route. */
const WINDOW = { routes: [{ id: "only", policy: { max_in_flight: 7 } }] };

/** Sends one message that its target does not answer, so that no change of the route comes to its end. */
async function heldUp(target: Target, port: number): Promise<() => Promise<unknown>> {
  const agent = new Agent({ keepAlive: true });
  const asked = target.asked;
  const posting = post(port, agent, "in flight");
  await until(
    "asked",
    () => target.asked > asked,
    () => target.asked,
  );
  return () => posting.finally(() => agent.destroy());
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

  test.each([
    ["away", (file: string) => rmSync(file)],
    ["empty", (file: string) => writeFileSync(file, "")],
  ])("operators 7: killed, and its file is %s at the start: the former one is put there and runs", async (_, spoil) => {
    await using stage = await Stage.run(INSIDE);
    const former = stage.text;
    await tried(stage);
    await killed(stage);
    spoil(join(stage.folder.path, FILE));
    await stage.restart();
    await stage.bridge.logged("a configuration on probation was taken back at the start: the former one runs");
    expect(stage.text).toBe(former);
    expect(existsSync(note(stage))).toBe(false);
    expect(await newest(stage)).toMatchObject({ version: 1, reverted: { why: "process_ended" } });
  });

  test("spec 4.9.8: killed, and it does not come back: another process on the file puts the former one back, and runs it", async () => {
    await using stage = await Stage.run(INSIDE);
    const former = stage.text;
    await using other = stage.folder.run([]);
    await other.logged("bridge started");
    await tried(stage);
    await other.logged("configuration reloaded");
    await killed(stage);
    await other.logged("a configuration was taken back, and the former one is stored again");
    stage.bridge = other;
    await stage.health(({ config_watch: watch }) => watch.version === 0);
    expect(stage.text).toBe(former);
    await until(
      "forgotten",
      () => !existsSync(note(stage)),
      () => 0,
    );
    expect(await newest(stage)).toMatchObject({ version: 1, reverted: { why: "process_ended" } });
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
    const [text = "", standing = ""] = readFileSync(note(stage), "utf8").split("\n");
    const noted = { ...(JSON.parse(text) as object), ...(JSON.parse(standing) as object) };
    await killed(stage);
    const reversal = { why: "level", detail: "below full for 30 s" };
    for (const document of [stage.text, former]) {
      writeFileSync(join(stage.folder.path, FILE), document);
      writeFileSync(note(stage), JSON.stringify({ ...noted, reversal }));
      await stage.restart();
      expect(await newest(stage)).toMatchObject({ version: 1, reverted: reversal });
      expect(stage.text).toBe(former);
      expect(existsSync(note(stage))).toBe(false);
      await killed(stage);
    }
  });

  test("operators 7: killed while it is applied, the start puts the former one back, and says so", async () => {
    await using target = await Target.open("hangs");
    const port = await freePort();
    await using stage = await Stage.run(webToWeb(target.url, { addr: `127.0.0.1:${port}` }));
    const former = stage.text;
    const path = await stage.opened(WINDOW);
    const left = await heldUp(target, port);
    const committing = stage.admin("POST", `${path}/commit`, { confirm_within: "5m" }).catch(() => "no answer");
    await until(
      "being swapped",
      () => stage.bridge.log.some(({ to }) => to === "swapping"),
      () => stage.bridge.log.length,
    );
    expect(stage.text).not.toBe(former);
    await killed(stage);
    expect(await committing).toBe("no answer");
    await left();
    await stage.restart();
    await stage.bridge.logged("a configuration on probation was taken back at the start: the former one runs");
    expect(stage.text).toBe(former);
    expect(await newest(stage)).toMatchObject({ version: 1, reverted: { why: "process_ended" } });
    expect(existsSync(note(stage))).toBe(false);
  });

  test("operators 7: killed while the former one is applied again, the start runs it, and says why it came back", async () => {
    await using target = await Target.open("accepts");
    const port = await freePort();
    await using stage = await Stage.run(webToWeb(target.url, { addr: `127.0.0.1:${port}` }));
    const former = stage.text;
    const path = await stage.opened(WINDOW);
    expect(await stage.admin("POST", `${path}/commit`, { confirm_within: "5m" })).toMatchObject({ status: 200 });
    target.manner = "hangs";
    const left = await heldUp(target, port);
    const reverting = stage
      .admin("POST", "/config/revert", { version: 1, reason: "INC-7: too slow" })
      .catch(() => "no answer");
    await until(
      "put back",
      () => stage.text === former,
      () => stage.bridge.log.length,
    );
    await killed(stage);
    expect(await reverting).toBe("no answer");
    await left();
    expect(existsSync(note(stage))).toBe(true);
    await stage.restart();
    await stage.bridge.logged("a configuration on probation was taken back at the start: the former one runs");
    expect(stage.text).toBe(former);
    expect(await newest(stage)).toMatchObject({
      version: 1,
      reverted: { why: "operator", detail: "INC-7: too slow" },
    });
    expect(existsSync(note(stage))).toBe(false);
  });

  test("operators 7: another hand writes the file: that one counts, nothing is put back, now or at a start", async () => {
    await using stage = await Stage.run(INSIDE);
    await tried(stage);
    const byHand = `# by another hand\n${INSIDE.replace("id: only,", "id: theirs,")}`;
    writeFileSync(join(stage.folder.path, FILE), byHand);
    const routes = async (): Promise<unknown> => (await stage.admin("GET", "/routes")).body;
    await expect.poll(routes).toMatchObject({ routes: [{ id: "theirs" }] });
    await expect
      .poll(() => stage.admin("POST", "/config/confirm", { version: 1 }))
      .toMatchObject({
        status: 409,
        body: { reason: "no_probation" },
      });
    await expect.poll(() => existsSync(note(stage))).toBe(false);
    const { body } = await stage.admin("GET", "/config");
    expect(body).not.toHaveProperty("probation");
    const reverted = { why: "operator", detail: "another hand has replaced the document" };
    expect(await newest(stage)).toMatchObject({ version: 1, reverted });
    await killed(stage);
    await stage.restart();
    expect(stage.text).toBe(byHand);
    expect(await routes()).toMatchObject({ routes: [{ id: "theirs" }] });
  });

  test("operators 7: a file that is away for a moment, or broken, is no other document: its time takes it back at once", async () => {
    await using stage = await Stage.run(INSIDE);
    const path = join(stage.folder.path, FILE);
    const former = stage.text;
    await tried(stage, { confirm_within: "10s" });
    const text = stage.text;
    renameSync(path, `${path}.aside`);
    await stage.health(({ config_watch: watch }) => watch.last_error !== undefined);
    renameSync(`${path}.aside`, path);
    await stage.health(({ config_watch: watch }) => watch.last_error === undefined);
    expect((await stage.admin("GET", "/config")).body).toMatchObject({ probation: { version: 1 } });
    writeFileSync(path, "broken: [");
    await stage.bridge.logged(
      "a configuration is taken back: the former one runs again, and is stored again when the document can be read",
    );
    await stage.health(({ config_watch: watch }) => watch.version === 0);
    expect(await stage.admin("POST", "/config/confirm", { version: 1 })).toMatchObject({
      status: 409,
      body: { reason: "reverted" },
    });
    writeFileSync(path, text);
    await expect.poll(() => stage.text, { timeout: 20_000 }).toBe(former);
    await expect.poll(() => existsSync(note(stage))).toBe(false);
    await stage.health(({ config_watch: watch }) => watch.version === 0);
    expect(await newest(stage)).toMatchObject({ version: 1, reverted: { why: "not_confirmed" } });
  });
});
