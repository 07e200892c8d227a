import type { Clock, OutboxStore } from "@bridge/ports";
import type { TestSchema } from "@bridge/tooling/test-postgres";

/** A server whose clock shows what a test's clock has measured, and can be set. */
export class ServerTime {
  readonly #schema: TestSchema;
  readonly #name: string;
  #shown = Number.NaN;
  #setTo = 0;
  #setting: Promise<unknown> | undefined;

  private constructor(schema: TestSchema) {
    this.#schema = schema;
    this.#name = schema.connection.schema;
  }

  /** Instead of the server's own, for the outbox in this schema. */
  static async of(schema: TestSchema): Promise<ServerTime> {
    const { schema: name } = schema.connection;
    await schema.rows(`
      DROP TABLE IF EXISTS ${name}.test_time;
      CREATE TABLE ${name}.test_time (time timestamptz NOT NULL);
      INSERT INTO ${name}.test_time VALUES ('epoch');
      CREATE OR REPLACE FUNCTION ${name}.outbox_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT time FROM ${name}.test_time'`);
    return new ServerTime(schema);
  }

  /** Sets the server's clock by `ms`; no time passes. */
  jump(ms: number): void {
    this.#setTo += ms;
  }

  /** A store before each of whose calls the server's clock goes on to what `clock` shows. */
  with(store: OutboxStore, clock: Clock): OutboxStore {
    // At once if it shows that already, so that calls of one turn are calls of one turn.
    const then = <T>(call: () => Promise<T>): Promise<T> => {
      this.#show(clock.monotonic() + this.#setTo);
      return this.#setting?.then(call) ?? call();
    };
    return {
      ...store,
      persist: (records, signal) => then(() => store.persist(records, signal)),
      claim: (request, signal) => then(() => store.claim(request, signal)),
      claimOne: (id, loanMs, signal) => then(() => store.claimOne(id, loanMs, signal)),
      finish: (ends, signal) => then(() => store.finish(ends, signal)),
      status: (id, signal) => then(() => store.status(id, signal)),
      backlog: (signal) => then(() => store.backlog(signal)),
      blockedKeys: (filter, limit, signal) =>
        then(async () => (await store.blockedKeys?.(filter, limit, signal)) ?? []),
      list: (filter, page, signal) => then(() => store.list(filter, page, signal)),
    };
  }

  #show(ms: number): void {
    if (ms === this.#shown) return;
    this.#shown = ms;
    const text = `UPDATE ${this.#name}.test_time SET time = 'epoch'::timestamptz + $1 * interval '1 ms'`;
    const setting = (this.#setting ?? Promise.resolve())
      .then(() => this.#schema.rows(text, [ms]))
      .finally(() => {
        if (this.#setting === setting) this.#setting = undefined;
      });
    this.#setting = setting;
  }
}
