/** A queue of RabbitMQ into a table of PostgreSQL, a hundred messages at a time. `npm start` @module */
import { env } from "node:process";
import { defineBridge } from "@bridge/core";
import { fileDlq } from "@bridge/dlq-file";
import { amqp } from "@bridge/transport-amqp";
import { type FunctionMessage, handler } from "@bridge/transport-function";
import pg from "pg";

const pool = new pg.Pool({ connectionString: env["DATABASE_URL"] ?? "postgresql://postgres@127.0.0.1:5432/test" });
pool.on("error", () => {}); // a connection that breaks while nobody uses it: the next statement takes another
const table = pg.escapeIdentifier(env["TABLE"] ?? "orders");
await pool.query(`CREATE TABLE IF NOT EXISTS ${table} (id text PRIMARY KEY, body jsonb NOT NULL)`);

/** All in one statement. What is no JSON goes to the dead letters by itself; a statement that fails is tried again with all. */
async function insert(messages: readonly FunctionMessage[]): Promise<readonly (Error | undefined)[]> {
  const results = messages.map(jsonError);
  const good = messages.filter((_, at) => results[at] === undefined);
  // A message may come twice; its id says so.
  await pool.query(
    `INSERT INTO ${table} (id, body) SELECT * FROM unnest($1::text[], $2::jsonb[]) ON CONFLICT (id) DO NOTHING`,
    [good.map(({ id }) => id), good.map((message) => message.text())],
  );
  return results;
}

function jsonError(message: FunctionMessage): Error | undefined {
  try {
    message.json();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

const rabbit = amqp({ url: env["AMQP_URL"] ?? "amqp://guest:guest@127.0.0.1" });
const worker = defineBridge({
  id: "orders-worker",
  stores: { dlq: fileDlq({ path: env["DEAD_LETTERS"] ?? "data/dlq.db" }) },
  routes: {
    orders: {
      from: rabbit.queue(env["QUEUE"] ?? "orders", { declare: true, prefetch: 500 }),
      to: handler.batch(insert, { size: 100, within: "20ms" }),
      policy: { max_in_flight: 500 },
    },
  },
});
await worker.run(); // until SIGTERM or SIGINT
await pool.end();
