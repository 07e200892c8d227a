import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@bridge/tooling/listening";
import { describe, expect, test } from "vitest";
import { eventually } from "./support/ask.ts";
import { Folder } from "./support/folder.ts";
import { document, killed, waits } from "./support/one-outbox.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";
import { until } from "./support/until.ts";

/** A document whose stores and ports each process has for itself. */
function documentFor({ url }: Target, outbox: string, version: number): string {
  const [port, admin, monitor] = ["IN", "ADMIN", "MONITOR"].map((name) => `\${env:${name}}`);
  if (port === undefined || admin === undefined || monitor === undefined) throw new Error("there are three");
  return document({ url, port, admin, monitor, outbox: `\${env:STORES}-${outbox}`, version });
}

/** Two processes on one file with an outbox each, in which a message waits, and a change by hand that both refuse. */
async function bothLeave(target: Target) {
  const folder = new Folder();
  const begin = async (name: string) => {
    const [port, admin, monitor] = [await freePort(), await freePort(), await freePort()];
    const env = { STORES: name, IN: String(port), ADMIN: String(admin), MONITOR: String(monitor) };
    const stage = await Stage.run(documentFor(target, "here", 1), env, folder);
    await waits(stage, port, name);
    return stage;
  };
  const stages = { a: await begin("a"), b: await begin("b") };
  folder.write("bridge.yaml", documentFor(target, "there", 2));
  for (const stage of Object.values(stages)) await refuses(stage);
  return stages;
}

async function refuses(stage: Stage): Promise<void> {
  await stage.health(({ config_watch: { version, last_error: error } }) => version === 1 && error !== undefined);
}

const conditions = async (stage: Stage): Promise<string> =>
  JSON.stringify((await stage.admin("GET", "/conditions")).body);

/** The target is back: what has arrived when both run what is stored, and nothing is remembered or told any more. */
async function arrived({ a, b }: Awaited<ReturnType<typeof bothLeave>>, target: Target): Promise<readonly string[]> {
  target.manner = "accepts";
  for (const stage of [a, b]) await stage.health(({ config_watch: { version } }) => version === 2);
  for (const name of ["", ".2"])
    await until(
      "forgotten",
      () => !existsSync(join(a.folder.path, `bridge.yaml.leaving${name}`)),
      () => 0,
    );
  for (const stage of [a, b])
    await eventually(
      () => stage.admin("GET", "/conditions"),
      ({ body }) => !JSON.stringify(body).includes("version 1"),
    );
  return target.accepted.toSorted();
}

describe("spec 4.9.5: two processes on one file that leave stores of their own", () => {
  test.for([
    { signal: "SIGKILL", ends: "ab", starts: "ab" },
    { signal: "SIGKILL", ends: "ba", starts: "ba" },
    { signal: "SIGTERM", ends: "ab", starts: "ba" },
    { signal: "SIGTERM", ends: "ba", starts: "ab" },
  ] as const)(
    "each run the former document first after $signal in the order $ends, started in the order $starts",
    async (way) => {
      await using target = await Target.open("refuses");
      const stages = await bothLeave(target);
      await using a = stages.a;
      await using b = stages.b;
      const by = { a, b };
      for (const name of way.ends) await killed(by[name as "a" | "b"], way.signal);
      for (const name of way.starts) {
        const stage = by[name as "a" | "b"];
        await stage.restart();
        await refuses(stage);
        expect(await conditions(stage)).not.toContain("another place");
      }
      expect(await arrived(by, target)).toEqual(["a", "b"]);
    },
  );

  test.for(["a", "b"] as const)("%s alone is started again while the other one runs on", async (name) => {
    await using target = await Target.open("refuses");
    const stages = await bothLeave(target);
    await using a = stages.a;
    await using b = stages.b;
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await killed(stages[name], signal);
      await stages[name].restart();
      await refuses(stages[name]);
    }
    expect(await arrived({ a, b }, target)).toEqual(["a", "b"]);
  });

  test("one that is started with the stores of neither leaves both alone, and tells of them until they are seen to", async () => {
    await using target = await Target.open("refuses");
    const stages = await bothLeave(target);
    await using a = stages.a;
    await using b = stages.b;
    for (const stage of [a, b]) await killed(stage);
    const [port, admin, monitor] = [await freePort(), await freePort(), await freePort()];
    const env = { STORES: "c", IN: String(port), ADMIN: String(admin), MONITOR: String(monitor) };
    await using c = await Stage.run(documentFor(target, "there", 2), env, a.folder);
    const told =
      /version 1, and nobody delivers them: stores\.outbox refers to \$\{env:STORES\}, which .* start that one/;
    await eventually(
      () => c.admin("GET", "/conditions"),
      ({ body }) => told.test(JSON.stringify(body)),
    );
    for (const stage of [b, a]) {
      await stage.restart();
      await refuses(stage);
    }
    expect(await arrived({ a, b }, target)).toEqual(["a", "b"]);
    await eventually(
      () => c.admin("GET", "/conditions"),
      ({ body }) => !JSON.stringify(body).includes("version 1"),
    );
  });
});
