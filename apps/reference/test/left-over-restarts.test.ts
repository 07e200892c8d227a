import { freePort } from "@bridge/tooling/listening";
import { expect, test } from "vitest";
import { eventually } from "./support/ask.ts";
import { document, isTold, killed, partsFor, waits } from "./support/one-outbox.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";
import { until } from "./support/until.ts";

test("spec 4.9.8: killed while a version that moves the outbox is on probation, what came in is told over restarts, until that version has delivered it", async () => {
  await using target = await Target.open("accepts");
  const parts = await partsFor(target);
  const { port } = parts;
  await using stage = await Stage.run(document(parts));
  const moved = await stage.opened();
  await stage.admin("PUT", `${moved}/document`, { text: document({ ...parts, outbox: "there" }) });
  expect(await stage.admin("POST", `${moved}/commit`, { confirm_within: "5m" })).toMatchObject({ status: 200 });
  target.manner = "refuses";
  await waits(stage, port);
  for (let i = 0; i < 3; i++) {
    await killed(stage);
    await stage.restart();
    await stage.health(({ config_watch: watch }) => watch.version === 1);
    await isTold(stage, 2);
  }
  await isDeliveredBy(2, stage, target);
});

test("spec 4.9.8: killed, and taken back by a process whose environment names other stores: what came in is told, and which reference leads elsewhere", async () => {
  await using target = await Target.open("accepts");
  const parts = { ...(await partsFor(target)), admin: 0, monitor: 0 };
  const text = (store: string): string => document({ ...parts, port: "${env:PORT}", outbox: `\${env:WHERE}-${store}` });
  await using stage = await Stage.run(text("here"), { PORT: String(parts.port), WHERE: "a" });
  await using other = stage.folder.run([], { PORT: String(await freePort()), WHERE: "b" });
  await other.logged("bridge started");
  const moved = await stage.opened();
  await stage.admin("PUT", `${moved}/document`, { text: text("there") });
  expect(await stage.admin("POST", `${moved}/commit`, { confirm_within: "5m" })).toMatchObject({ status: 200 });
  await other.logged("configuration reloaded");
  target.manner = "refuses";
  await waits(stage, parts.port);
  await killed(stage);
  await other.logged("a configuration was taken back, and the former one is stored again");
  stage.bridge = other;
  await isTold(stage, 2);
  const { body } = await stage.admin("GET", "/conditions");
  expect(JSON.stringify(body)).toContain("stores.outbox refers to ${env:WHERE}, which names another place here");
  await stage.restart();
  await isTold(stage, 2);
  await isDeliveredBy(2, stage, target);
});

/** As the condition says: what waits in the outbox of `version` is delivered when that is committed again. */
async function isDeliveredBy(version: number, stage: Stage, target: Target): Promise<void> {
  const { body } = await stage.admin("POST", "/config/transactions", { from_version: version });
  const again = `/config/transactions/${(body as { txn_id: string }).txn_id}`;
  expect(await stage.admin("POST", `${again}/commit`)).toMatchObject({ status: 200 });
  target.manner = "accepts";
  await until(
    "delivered",
    () => target.accepted.includes("hi"),
    () => target.accepted.length,
  );
  await eventually(
    () => stage.admin("GET", "/conditions"),
    ({ body: conditions }) => !JSON.stringify(conditions).includes("stores.outbox"),
  );
}
