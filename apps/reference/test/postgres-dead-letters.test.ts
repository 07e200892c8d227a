import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { ask, eventually, probe } from "./support/ask.ts";
import { ADMIN_KEY, Folder } from "./support/folder.ts";
import { postgresTwins } from "./support/postgres-twins.ts";
import { Target } from "./support/target.ts";
import { until } from "./support/until.ts";

const MESSAGES = 60;

describe.skipIf(noPostgres)("two instances on one PostgreSQL whose dead letters could not be written", () => {
  test("are both ready again soon after they can be, whichever of the two writes which", async () => {
    await using tables = await testSchema();
    const { schema } = tables.connection;
    using folder = new Folder();
    await using target = await Target.open("refuses");
    const policy = "{max_replay_attempts: 1, backoff: {initial_interval: 500ms, max_interval: 500ms}}";
    const [first, second] = await postgresTwins(folder, tables, target.url, policy);
    await using one = first;
    await using other = second;
    const instances = [one, other];
    const ready = async (status: number) => {
      for (const instance of instances) {
        const monitor = await instance.url("monitor");
        await eventually(
          () => probe(monitor, "ready?level=full"),
          (told) => told.status === status,
        );
      }
    };
    await ready(200);
    await tables.rows(`ALTER TABLE ${schema}.dead_letters RENAME TO elsewhere`);
    const admin = await one.url("admin");
    const injected = Array.from({ length: MESSAGES }, () =>
      ask(`${admin}/api/v1/admin/routes/r/inject`, {
        method: "POST",
        headers: { "X-API-Key": ADMIN_KEY, "content-type": "application/json" },
        body: JSON.stringify({ subject: "s", payload: "" }),
      }).catch(() => {}),
    );
    await ready(503);
    // Each has had some of them in its hands.
    for (const instance of instances)
      await instance.logged("dead letter not written: the message is kept where it is and tried again");
    await tables.rows(`ALTER TABLE ${schema}.elsewhere RENAME TO dead_letters`);
    await ready(200);
    let written = 0;
    const count = async (): Promise<number> => {
      const [row] = await tables.rows<{ count: string }>(`SELECT count(*) FROM ${schema}.dead_letters`);
      return (written = Number(row?.count));
    };
    await until(
      "all are dead letters",
      async () => (await count()) === MESSAGES,
      () => written,
    );
    await Promise.all(injected);
    expect(await count()).toBe(MESSAGES);
  });
});
