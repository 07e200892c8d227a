import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { expect, test } from "vitest";
import { listens } from "./support/listens.ts";
import { noRabbit, openRabbit } from "./support/rabbit.ts";
import { start } from "./support/start.ts";

const DATABASE_URL = env["BRIDGE_TEST_POSTGRES"] ?? "postgresql://postgres@127.0.0.1:5432/test";
const { hostname: host, port } = new URL(DATABASE_URL);
const noPostgres = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await listens({ host, port: Number(port || 5432) }));
const ORDERS = 250;

test.skipIf(noRabbit || noPostgres)(
  "worker: what is in the queue is in the table, and what is no JSON in the DLQ",
  async () => {
    const name = `example-${randomUUID()}`;
    const folder = await mkdtemp(join(tmpdir(), "bridge-worker-"));
    await using rabbit = await openRabbit(name);
    await rabbit.channel.assertQueue(name, { arguments: { "x-queue-type": "quorum" } });
    for (let at = 0; at < ORDERS; at++)
      rabbit.channel.sendToQueue(name, Buffer.from(JSON.stringify({ at })), { messageId: `order-${at}` });
    rabbit.channel.sendToQueue(name, Buffer.from("oops"), { messageId: "oops" });
    await rabbit.channel.waitForConfirms();

    const database = new pg.Client(DATABASE_URL);
    await database.connect();
    const DEAD_LETTERS = join(folder, "dlq.db");
    try {
      await using worker = start("worker/worker.ts", { DATABASE_URL, DEAD_LETTERS, QUEUE: name, TABLE: name });
      const rows = async (): Promise<number> =>
        Number(
          (await database.query<{ n: string }>(`SELECT count(*) AS n FROM "${name}"`).catch(() => undefined))?.rows[0]
            ?.n,
        );
      await expect.poll(rows, { timeout: 45_000 }).toBe(ORDERS);
      // A stop lets what is in flight come to its end.
      worker.kill("SIGTERM");
      expect(await worker.ended).toBe(0);
      expect((await rabbit.channel.checkQueue(name)).messageCount).toBe(0);
      using letters = new DatabaseSync(DEAD_LETTERS, { readOnly: true });
      expect(letters.prepare("SELECT count(*) AS n FROM dead_letter").get()).toEqual({ n: 1 });
    } finally {
      await database.query(`DROP TABLE IF EXISTS "${name}"`);
      await database.end();
      await rm(folder, { recursive: true });
    }
  },
);
