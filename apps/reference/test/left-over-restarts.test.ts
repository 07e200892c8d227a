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
  const { body } = await stage.admin("POST", "/config/transactions", { from_version: 2 });
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
});
