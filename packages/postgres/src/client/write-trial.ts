import { BridgeError } from "@bridge/ports";
import type { Trial } from "@bridge/ports/internal";
import { NothingKept } from "./failure.ts";
import type { Statement, Transaction } from "./statement.ts";

/**
 * A statement that writes as many rows as `$1` says, 0 or 1, in the way that records are written. Without one the server
 * looks at tables, privileges, and whether it is read-only; with one at its room too.
 */
export type WriteTrial = (table: (name: string) => string) => string;

interface Client {
  table(name: string): string;
  query(statement: Statement, signal: AbortSignal): Promise<unknown>;
  transaction<T>(what: string, work: (on: Transaction) => Promise<T>, signal: AbortSignal): Promise<T>;
}

const what = "trying whether it can be written to";

/** Leaves nothing: no row, or one that is undone. */
export function trialOf(client: Client, trial: WriteTrial | undefined): Trial {
  if (trial === undefined) return (_, signal) => client.query({ what, text: "SELECT 1" }, signal);
  const text = trial((name) => client.table(name));
  return async (faulty, signal) => {
    if (!faulty) return client.query({ what, text, values: [0] }, signal);
    const undo = new BridgeError("REJECTED", "undone", { charged: false });
    return client
      .transaction(
        what,
        async (transaction) => {
          const { count } = await transaction.query({ text, values: [1] });
          if (count === 0) throw new NothingKept();
          throw undo;
        },
        signal,
      )
      .catch((thrown: unknown) => {
        if (thrown !== undo) throw thrown;
      });
  };
}
