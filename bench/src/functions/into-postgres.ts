/** A source on demand, and a handler that writes each message, or many together, into a table. @module */
import { type FunctionMessage, functionTransport, handler } from "@bridge/transport-function";
import { Pool } from "pg";
import { startBridge } from "../bridge/start-bridge.ts";
import { MicrotaskSender } from "../engine/accepting-sender.ts";
import { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { onDemandTransport } from "../engine/on-demand-transport.ts";
import { sampleMessage } from "../engine/sample-message.ts";
import { answer, ready } from "../harness/answer.ts";
import { type InsertJob, jobGiven } from "./function-job.ts";

const { url, batch, window, size } = jobGiven() as InsertJob;
const pool = new Pool({ connectionString: url, max: 10 });
const receiver = new OnDemandReceiver(sampleMessage(size));

async function insert(messages: readonly FunctionMessage[]): Promise<void> {
  const [ids, payloads] = [messages.map(({ id }) => id), messages.map(({ payload }) => Buffer.from(payload))];
  await pool.query({
    name: "insert",
    text: "INSERT INTO received (id, payload) SELECT * FROM unnest($1::text[], $2::bytea[])",
    values: [ids, payloads],
  });
}

await pool.query("CREATE TABLE IF NOT EXISTS received (id text, payload bytea)");
await pool.query("TRUNCATE received");
const out = batch === 1 ? handler((message) => insert([message])) : handler.batch(insert, { size: batch });
await startBridge(
  {
    receiver: { transport: "on-demand" },
    sender: { transport: "function", options: { handler: "out" } },
    address: "",
    maxInFlight: window,
  },
  [onDemandTransport(receiver, new MicrotaskSender()), functionTransport({ handlers: { out } })],
);

answer("run", async (messages: number) => {
  const before = await count();
  await receiver.run(messages);
  const written = (await count()) - before;
  if (written !== messages) throw new Error(`${messages} messages, ${written} rows`);
});
ready();

async function count(): Promise<number> {
  const { rows } = await pool.query<{ readonly count: string }>("SELECT count(*) FROM received");
  return Number(rows[0]?.count);
}
