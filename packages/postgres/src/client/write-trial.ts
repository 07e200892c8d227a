import { BridgeError } from "@bridge/ports";
import type { Trial } from "@bridge/ports/internal";
import { NothingKept } from "./failure.ts";
import { type Keeping, keepingOf, wrongWith } from "./keeping.ts";
import type { Migrations } from "./migrations.ts";
import type { Answer, Statement, Transaction } from "./statement.ts";

/**
 * A statement that writes as many rows as `$1` says, 0 or 1, in the way that records are written. Without one the server
 * looks at tables, privileges, and whether it is read-only; with one at its room too.
 */
type WriteTrial = (table: (name: string) => string) => string;

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
  const text = trial((name) => client.table(name));
  return async (faulty, signal) => {
    // First, as it names what is denied, which the server does not.
    const denied = migrations && (await client.denied(migrations, signal));
    if (denied !== undefined) throw denied;
    await (faulty ? writeAndUndo(client, text, signal) : client.query({ what, text, values: [0] }, signal));
    if (migrations === undefined) return;
    const statement = { what: looking, ...keepingOf(migrations, client.schema) };
    const { rows } = await client.query<Keeping>(statement, signal);
    client.kept(looking, rows[0] && wrongWith(rows[0]));
  };
}

async function writeAndUndo(client: Client, text: string, signal: AbortSignal): Promise<void> {
  const undo = new BridgeError("REJECTED", "undone", { charged: false });
  await client
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
}
