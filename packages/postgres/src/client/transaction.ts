import { BridgeError } from "@bridge/ports";
import type { PoolClient } from "pg";
import { Declined, leavesUsable, NothingKept } from "./failure.ts";
import type { Answer, Statement, Transaction } from "./statement.ts";

export interface TransactionOptions {
  /** How long a try may take, in milliseconds. Default: as long as a statement may. */
  readonly timeoutMs?: number | undefined;
  /** Whether `work` may be made again although it may have been made: it then finds what it wrote. Default: false. */
  readonly repeatable?: boolean | undefined;
}

/** One statement, and its answer. */
export async function ask<Row extends object>(
  client: PoolClient,
  { text, values = [], name, proof }: Omit<Statement, "what">,
): Promise<Omit<Answer<Row>, "unsure">> {
  const { rows, rowCount } = await client.query<Row>({
    text,
    values: [...values],
    ...(name !== undefined && { name }),
  });
  const count = rowCount ?? 0;
  if (count === 0 && proof !== undefined) {
    const found = await client.query(proof.text, [...proof.values]);
    if (found.rows.length === 0) throw new NothingKept();
  }
  return { rows, count };
}

/** One try of a transaction, from its first word to its last; `onCommit` is called before that is said. */
export async function makeTransaction<T>(
  client: PoolClient,
  work: (transaction: Transaction) => Promise<T>,
  timeoutMs: number | undefined,
  onCommit: () => void,
): Promise<T> {
  await client.query(`BEGIN${timeoutMs === undefined ? "" : limitedTo(Math.ceil(timeoutMs))}`);
  let result: T;
  try {
    result = await work({
      query: (statement) => ask(client, statement),
    });
  } catch (error) {
    const declined = BridgeError.is(error);
    if (declined || leavesUsable(error)) await client.query("ROLLBACK");
    throw declined ? new Declined(error) : error;
  }
  onCommit();
  const { command } = await client.query("COMMIT");
  // What the server answers when a statement had failed and `work` went on.
  if (command !== "COMMIT") throw new BridgeError("INTERNAL", "the server has undone the transaction");
  return result;
}

/** While the next statement is on its way, the server takes the transaction for an idle one. */
function limitedTo(ms: number): string {
  return `; SET LOCAL statement_timeout = ${ms}; SET LOCAL idle_in_transaction_session_timeout = ${ms}`;
}
