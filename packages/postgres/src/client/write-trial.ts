import { BridgeError } from "@bridge/ports";
import type { Trial } from "@bridge/ports/internal";
import { NothingKept } from "./failure.ts";
import { type Keeping, keepingOf, wrongWith } from "./keeping.ts";
import type { Migrations } from "./migrations.ts";
import type { Answer, Statement, Transaction } from "./statement.ts";

type Text = (table: (name: string) => string) => string;

/** What a store does with a row, in the way that it does it with its own. */
export interface WriteTrial {
  /**
   * Writes as many rows as `$1` says, 0 or 1. Without one the server looks at tables, privileges, and whether it is read-only;
   * with one at its room too.
   */
  readonly write: Text;
  /** What becomes of that row, one after the other; each returns or changes some: who takes rows may not let them go. */
  readonly ends: readonly Text[];
}

interface Client {
  readonly schema: string;
  table(name: string): string;
  query<Row extends object>(statement: Statement, signal: AbortSignal): Promise<Pick<Answer<Row>, "rows">>;
  transaction<T>(what: string, work: (on: Transaction) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Is told after each look whether what it writes would last, and if not, why. Throws then. */
  kept(what: string, wrong: string | undefined): void;
  /** What the bridge's user may not do that the store needs. */
  denied(migrations: Migrations, signal: AbortSignal): Promise<BridgeError | undefined>;
}

export interface TrialOptions {
  /** How it is found out whether the store takes writes. Default: only whether the server answers. */
  readonly trial?: WriteTrial | undefined;
  /** With a trial: the tables of which it is looked whether what is in them lasts, and whether all that is needed is allowed. */
  readonly migrations?: Migrations | undefined;
}

const what = "trying whether it can be written to";
const looking = "looking how the server keeps what is written";

/** Leaves nothing: no row, or one that is undone. */
export function trialOf(client: Client, { trial, migrations }: TrialOptions): Trial {
  if (trial === undefined) return (_, signal) => client.query({ what, text: "SELECT 1" }, signal);
  const table = (name: string): string => client.table(name);
  const write = { what, text: trial.write(table) };
  const whole = [{ ...write, values: [1] }, ...trial.ends.map((end) => ({ what, text: end(table) }))];
  return async (faulty, signal) => {
    // First, as it names what is denied, which the server does not.
    const denied = migrations && (await client.denied(migrations, signal));
    if (denied !== undefined) throw denied;
    await (faulty ? writeAndUndo(client, whole, signal) : client.query({ ...write, values: [0] }, signal));
    if (migrations === undefined) return;
    const statement = { what: looking, ...keepingOf(migrations, client.schema) };
    const { rows } = await client.query<Keeping>(statement, signal);
    client.kept(looking, rows[0] && wrongWith(rows[0]));
  };
}

async function writeAndUndo(client: Client, statements: readonly Statement[], signal: AbortSignal): Promise<void> {
  const undo = new BridgeError("REJECTED", "undone", { charged: false });
  await client
    .transaction(
      what,
      async (transaction) => {
        for (const statement of statements) {
          const { count } = await transaction.query(statement);
          if (count === 0) throw new NothingKept();
        }
        throw undo;
      },
      signal,
    )
    .catch((thrown: unknown) => {
      if (thrown !== undo) throw thrown;
    });
}
