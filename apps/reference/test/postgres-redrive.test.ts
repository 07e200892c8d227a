import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { ask, eventually, probe } from "./support/ask.ts";
import { ADMIN_KEY, Folder } from "./support/folder.ts";
import { postgresTwins } from "./support/postgres-twins.ts";
import { Target } from "./support/target.ts";

const ROUNDS = 5;
const MESSAGES = 40;
const HEADERS = { "X-API-Key": ADMIN_KEY, "content-type": "application/json" };
/** What the one says while the other is at it, and afterwards. */
const SECOND = [
  "redrive still pending in the outbox",
  "entry already redriven or concurrently deleted",
  "entry not found",
];

interface Redriven {
  readonly redriven: number;
  readonly failed: number;
  readonly errors?: readonly { readonly id: string; readonly error: string }[];
}

describe.skipIf(noPostgres)(
  "spec 4.6.10: two processes on one PostgreSQL that redrive the same dead letters at once",
  () => {
    test("send each once and count it once", { timeout: 120_000 }, async () => {
      await using tables = await testSchema();
      using folder = new Folder();
      await using target = await Target.open("refuses");
      const [first, second] = await postgresTwins(folder, tables, target.url, "{max_replay_attempts: 1}");
      await using one = first;
      await using other = second;
      for (const instance of [one, other]) {
        const monitor = await instance.url("monitor");
        await eventually(
          () => probe(monitor, "ready"),
          ({ status }) => status === 200,
        );
      }
      const admins = [`${await one.url("admin")}/api/v1/admin`, `${await other.url("admin")}/api/v1/admin`];
      const post = async (to: string, body: unknown) =>
        ask(to, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });

      let redriven = 0;
      for (let round = 0; round < ROUNDS; round++) {
        target.manner = "refuses";
        const payloads = Array.from({ length: MESSAGES }, (_, i) => Buffer.from(`${round}-${i}`).toString("base64"));
        const into = `${admins[round % 2]}/routes/r/inject`;
        const injected = await Promise.all(payloads.map((payload) => post(into, { subject: "s", payload })));
        expect(new Set(injected.map(({ status }) => status))).toEqual(new Set([422]));
        const listed = await ask(`${admins[0]}/dlq/messages?limit=100`);
        const ids = (listed.body as { readonly messages: readonly { readonly id: string }[] }).messages.map(
          ({ id }) => id,
        );
        expect(ids).toHaveLength(MESSAGES);

        target.manner = "accepts";
        const answers = await Promise.all(
          admins.map(async (admin) => (await post(`${admin}/dlq/redrive`, { ids })).body as Redriven),
        );
        for (const { errors = [] } of answers) for (const { error } of errors) expect(SECOND).toContain(error);
        redriven += answers.reduce((sum, answer) => sum + answer.redriven, 0);
        expect(await ask(`${admins[1]}/dlq/messages?limit=1`)).toMatchObject({ body: { messages: [] } });
      }
      expect(redriven).toBe(ROUNDS * MESSAGES);
      expect(target.accepted).toHaveLength(ROUNDS * MESSAGES);
      expect(new Set(target.accepted).size).toBe(ROUNDS * MESSAGES);
    });
  },
);
