import type { Random } from "@bridge/ports";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Statement, Transaction } from "../client/statement.ts";
import { CHANGES } from "./dlq-tables.ts";

/** Tokens that are forgotten with one statement. */
const FORGOTTEN = 1_000;
/** What nobody has forgotten after that was left behind by a process that ended: far longer than a call takes. */
const LEFT_BEHIND = "1 hour";

/** A try of what is undone when it is not whole: its beginning, the statement and its end are three round trips, and a network may be slow. */
const WHOLE_MS = 9_000;

/** What a statement changes. */
export interface Change {
  /** For errors: what it does, such as `deleting dead letters`. */
  readonly what: string;
  /** Queries of a `WITH`: `picked` are the rows that it is about, which it locks, and `changed` those that it has changed; each has an `id`. */
  readonly queries: string;
  readonly values: readonly unknown[];
  /** As of a statement. */
  readonly lasting?: boolean;
  /** Whether it is undone when not all that was picked is changed: it moves rows, and one that arrives nowhere would be lost. Default: false. */
  readonly whole?: boolean;
}

interface Changed {
  readonly picked: number;
  readonly ids: readonly string[];
}

/**
 * Changes rows such that it is known of each whether a call has changed it, also when answers are lost and the statement is made
 * again: with what it changes goes a note of that under a token of the call. Who got no answer looks there; who got one forgets
 * the note with its next statement.
 */
export class Changes {
  readonly #client: PostgresClient;
  readonly #random: Random;
  #toForget: string[] = [];

  constructor(client: PostgresClient, random: Random) {
    this.#client = client;
    this.#random = random;
  }

  /** Returns what the tries of it have changed together. */
  async make({ whole = false, lasting = false, ...change }: Change, signal: AbortSignal): Promise<readonly string[]> {
    const token = this.#random.id();
    const statement = { ...this.#statement(change, token), lasting };
    const { picked, ids, unsure } = whole
      ? await this.#orNothing(statement, signal)
      : await this.#once(statement, signal);
    // They were locked: a trigger that somebody else has made keeps them, and says nothing.
    if (ids.length < picked) throw this.#client.keptNothing(change.what);
    const all = unsure ? await this.#noted(token, signal) : ids;
    this.#toForget.push(token);
    return all;
  }

  /** Notes of processes that ended before they forgot them. */
  async forgetLeftBehind(signal: AbortSignal): Promise<void> {
    const text = `DELETE FROM ${this.#client.table(CHANGES)} WHERE made_at < now() - interval '${LEFT_BEHIND}'`;
    await this.#client.query({ what: "forgetting old changes", text }, signal);
  }

  #statement({ what, queries, values }: Omit<Change, "whole" | "lasting">, token: string): Statement {
    const changes = this.#client.table(CHANGES);
    const [own, old] = [1, 2].map((n) => `$${values.length + n}`);
    const text = `
      WITH ${queries}, noted AS (
        INSERT INTO ${changes} (token, ids) SELECT ${own}, array_agg(id) FROM changed HAVING count(*) > 0
      ), forgotten AS (
        DELETE FROM ${changes} WHERE token = ANY(${old})
      )
      SELECT (SELECT count(*) FROM picked) AS picked, ARRAY(SELECT id FROM changed) AS ids`;
    // Who changes ends what others have read for: reads of entries to come may wait, and how far a job is may not.
    return { what, text, values: [...values, token, this.#toForget.splice(0, FORGOTTEN)], goesFirst: true };
  }

  async #once(statement: Statement, signal: AbortSignal) {
    const { rows, unsure } = await this.#client.query<Changed>(statement, signal);
    return { ...changedIn(rows), unsure };
  }

  async #orNothing(statement: Statement, signal: AbortSignal) {
    let tries = 0;
    const work = async (transaction: Transaction): Promise<Changed> => {
      tries++;
      const changed = changedIn((await transaction.query<Changed>(statement)).rows);
      if (changed.ids.length < changed.picked) throw this.#client.keptNothing(statement.what);
      return changed;
    };
    const changed = await this.#client.transaction(statement.what, work, signal, {
      repeatable: true,
      timeoutMs: WHOLE_MS,
    });
    return { ...changed, unsure: tries > 1 };
  }

  async #noted(token: string, signal: AbortSignal): Promise<readonly string[]> {
    const text = `SELECT unnest(ids) AS id FROM ${this.#client.table(CHANGES)} WHERE token = $1`;
    const { rows } = await this.#client.query<{ id: string }>(
      { what: "looking what was changed", text, values: [token] },
      signal,
    );
    return rows.map(({ id }) => id);
  }
}

function changedIn([changed]: readonly Changed[]): Changed {
  return changed ?? { picked: 0, ids: [] };
}
