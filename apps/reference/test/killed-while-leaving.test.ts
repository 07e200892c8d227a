import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "@bridge/tooling/listening";
import { describe, expect, test } from "vitest";
import { eventually } from "./support/ask.ts";
import { document, isTold, killed, type Parts, partsFor, waits } from "./support/one-outbox.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";
import { countsOf, post, traffic } from "./support/traffic.ts";
import { until } from "./support/until.ts";

const leaving = (stage: Stage): string => join(stage.folder.path, "bridge.yaml.leaving");

/** The former version runs, and what is stored waits until nothing does. */
async function resumes(stage: Stage): Promise<void> {
  const { config_watch: watch } = await stage.health((health) => health.config_watch.last_error !== undefined);
  expect(watch).toMatchObject({ version: 1, last_error: expect.stringContaining("leave messages behind") as unknown });
  expect(existsSync(leaving(stage))).toBe(true);
}

async function arrives(stage: Stage, version: number): Promise<void> {
  await stage.health(({ config_watch: watch }) => watch.version === version && watch.last_error === undefined);
  await until(
    "forgotten",
    () => !existsSync(leaving(stage)),
    () => 0,
  );
  await eventually(
    () => stage.admin("GET", "/outbox"),
    ({ body }) => (body as { depth?: number }).depth === 0,
  );
}

describe("a process that ends while a change leaves a store", () => {
  test("spec 4.9.8: killed amid a commit on probation that moves the outbox, the former version is put back and delivers what waits", async () => {
    await using target = await Target.open("accepts");
    const parts = await partsFor(target);
    await using stage = await Stage.run(document(parts));
    const outcomes = await killedAmid(stage, target, parts, { confirm_within: "5m" });
    await stage.restart();
    target.manner = "accepts";
    await arrives(stage, 1);
    expect(stage.text).toContain("here.db");
    expect(new Set(target.accepted).size).toBeGreaterThanOrEqual(outcomes["202"] ?? 0);
  });

  test("spec 4.9.5: killed amid a commit that moves the outbox, the next one empties the former outbox, then runs what is stored", async () => {
    await using target = await Target.open("accepts");
    const parts = await partsFor(target);
    await using stage = await Stage.run(document(parts));
    const outcomes = await killedAmid(stage, target, parts);
    expect(stage.text).toContain("there.db");
    await stage.restart();
    await resumes(stage);
    expect(stage.bridge.log).toContainEqual(
      expect.objectContaining({ level: "warn", config_version: 1, stored_version: 2 }),
    );
    target.manner = "accepts";
    await arrives(stage, 2);
    expect(new Set(target.accepted).size).toBeGreaterThanOrEqual(outcomes["202"] ?? 0);
    await killed(stage);
    await stage.restart();
    await arrives(stage, 2);
  });

  test.for(["SIGKILL", "SIGTERM"] as const)(
    "spec 4.9.5: a file that was changed by hand, and ended twice by %s, is resumed, and can be changed again meanwhile",
    async (signal) => {
      await using target = await Target.open("refuses");
      const parts = await partsFor(target);
      const { port } = parts;
      await using stage = await Stage.run(document(parts));
      await waits(stage, port);
      stage.folder.write("bridge.yaml", document({ ...parts, outbox: "there", version: 2 }));
      await resumes(stage);
      for (let i = 0; i < 2; i++) {
        await killed(stage, signal);
        await stage.restart();
        await resumes(stage);
      }
      await killed(stage, signal);
      stage.folder.write("bridge.yaml", document({ ...parts, outbox: "yonder", version: 3 }));
      await stage.restart();
      await resumes(stage);
      target.manner = "accepts";
      await arrives(stage, 3);
      expect(target.accepted).toEqual(["hi"]);
      await waitless(stage, port, target);
    },
  );

  test("spec 4.9.5: a file that is changed and ended in order before that was noticed is resumed", async () => {
    await using target = await Target.open("refuses");
    const parts = await partsFor(target);
    const unnoticed = "config_watch: {mode: poll, poll_interval: 1h}\n";
    await using stage = await Stage.run(document(parts) + unnoticed);
    await waits(stage, parts.port);
    stage.folder.write("bridge.yaml", document({ ...parts, outbox: "there", version: 2 }));
    await killed(stage, "SIGTERM");
    await stage.restart();
    await resumes(stage);
    target.manner = "accepts";
    await arrives(stage, 2);
    expect(target.accepted).toEqual(["hi"]);
  });

  test("spec 4.9.5: when the former document was put back while no process ran, or nothing is left, there is nothing to resume", async () => {
    await using target = await Target.open("refuses");
    const parts = await partsFor(target);
    const { port } = parts;
    await using stage = await Stage.run(document(parts));
    await waits(stage, port);
    stage.folder.write("bridge.yaml", document({ ...parts, outbox: "there", version: 2 }));
    await resumes(stage);
    await killed(stage);
    stage.folder.write("bridge.yaml", document({ ...parts, version: 3, header: "b" }));
    await stage.restart();
    target.manner = "accepts";
    await arrives(stage, 3);
    expect(target.accepted).toEqual(["hi"]);
  });

  test("spec 4.9.5: a former document whose secret is gone is not run: what is stored runs, and a condition says how to get at what waits", async () => {
    await using target = await Target.open("refuses");
    const parts = await partsFor(target);
    const { port } = parts;
    const env = { TAG: "secret-tag" };
    await using stage = await Stage.run(document({ ...parts, header: "${env:TAG}" }), env);
    await waits(stage, port);
    stage.folder.write("bridge.yaml", document({ ...parts, outbox: "there", version: 2 }));
    await resumes(stage);
    await killed(stage);
    delete (env as Partial<typeof env>).TAG;
    await stage.restart();
    await arrives(stage, 2);
    await left(stage);
    expect(stage.bridge.stderr).toContain("TAG");
    expect(stage.bridge.stderr).not.toContain("secret-tag");
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await killed(stage, signal);
      await stage.restart();
      await arrives(stage, 2);
      await isTold(stage);
    }
  });

  test("spec 4.9.5: a former document that cannot start is not tried for ever", async () => {
    await using target = await Target.open("refuses");
    const parts = await partsFor(target);
    const { port } = parts;
    const next = await freePort();
    await using stage = await Stage.run(document(parts));
    await waits(stage, port);
    stage.folder.write("bridge.yaml", document({ ...parts, port: next, outbox: "there", version: 2 }));
    await resumes(stage);
    await killed(stage);
    const another = createServer().listen(port, "127.0.0.1");
    await once(another, "listening");
    await stage.restart();
    await arrives(stage, 2);
    await left(stage);
    another.close();
    // As the condition says.
    const back = await stage.opened();
    const former = document({ ...parts, version: 1 });
    await stage.admin("PUT", `${back}/document`, { text: former });
    expect(await stage.admin("POST", `${back}/commit`)).toMatchObject({ status: 200 });
    target.manner = "accepts";
    await until(
      "delivered",
      () => target.accepted.length > 0,
      () => target.accepted.length,
    );
    expect(target.accepted).toEqual(["hi"]);
    await killed(stage);
    await stage.restart();
    await arrives(stage, 3);
    const { body } = await stage.admin("GET", "/conditions");
    expect(JSON.stringify(body)).not.toContain("stores.outbox");
    expect(readdirSync(join(stage.folder.path, "bridge.yaml.versions")).join()).not.toContain("left");
  });

  test("spec 4.9.5: what is remembered and cannot be read is told, and what is stored runs", async () => {
    await using target = await Target.open("accepts");
    await using stage = await Stage.run(document(await partsFor(target)));
    await killed(stage);
    writeFileSync(leaving(stage), "stores: {outbox: [");
    await stage.restart();
    await stage.health(({ config_watch: watch }) => watch.version === 1);
    expect(stage.bridge.stderr).toContain("bridge.yaml.leaving");
    expect(stage.bridge.stderr).toContain("remove this file");
    const conditions = () => stage.admin("GET", "/conditions");
    const saysSo = ({ body }: { readonly body: unknown }): boolean => JSON.stringify(body).includes("remove this file");
    await eventually(conditions, saysSo);
    rmSync(leaving(stage));
    await eventually(conditions, (told) => !saysSo(told));
  });

  test.for(["removed", "empty"] as const)(
    "spec 4.9.5: a start whose document is %s runs the former one, and says nothing of an empty start",
    async (how) => {
      await using target = await Target.open("refuses");
      const parts = await partsFor(target);
      await using stage = await Stage.run(document(parts));
      await waits(stage, parts.port);
      stage.folder.write("bridge.yaml", document({ ...parts, outbox: "there", version: 2 }));
      await resumes(stage);
      await killed(stage);
      if (how === "removed") rmSync(join(stage.folder.path, "bridge.yaml"));
      else stage.folder.write("bridge.yaml", "# nothing yet\n");
      await stage.restart();
      expect(stage.bridge.stderr).toContain("the former configuration runs first");
      expect(stage.bridge.stderr).not.toContain("starting empty");
    },
  );
});

/** Killed when a commit that gives the outbox another place is stored, while messages come and go; what callers were answered. */
async function killedAmid(
  stage: Stage,
  target: Target,
  parts: Parts,
  trial?: object,
): Promise<Readonly<Record<string, number>>> {
  target.pauseMs = 200;
  const over = new AbortController();
  const sending = traffic(parts.port, 8, over.signal);
  await until(
    "sent",
    () => target.accepted.length > 8,
    () => target.accepted.length,
  );
  const moved = await stage.opened();
  await stage.admin("PUT", `${moved}/document`, { text: document({ ...parts, outbox: "there" }) });
  void stage.admin("POST", `${moved}/commit`, trial).catch(() => {});
  await until(
    "stored",
    () => stage.text.includes("there.db"),
    () => stage.text.length,
  );
  target.manner = "refuses";
  await killed(stage);
  over.abort();
  const { outcomes } = await sending;
  return countsOf(outcomes);
}

async function waitless(stage: Stage, port: number, target: Target): Promise<void> {
  const agent = new Agent();
  expect(await post(port, agent, "after")).toBe("202");
  await until(
    "delivered",
    () => target.accepted.includes("after"),
    () => target.accepted.length,
  );
  expect(existsSync(join(stage.folder.path, "yonder.db"))).toBe(true);
}

/** It is told, and said to be so. */
async function left(stage: Stage): Promise<void> {
  await isTold(stage);
  expect(stage.bridge.log).toContainEqual(
    expect.objectContaining({
      level: "error",
      msg: "messages may be left behind: the former configuration is not run again",
    }),
  );
  expect(readdirSync(join(stage.folder.path, "bridge.yaml.versions"))).toContainEqual(
    expect.stringMatching(/^1\.left-outbox@[0-9a-f]{16}-[0-9a-f]{8}\.yaml$/),
  );
}
