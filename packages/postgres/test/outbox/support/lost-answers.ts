import { BridgeError } from "@bridge/ports";
import { type Answer, type Statement } from "../../../src/client/statement.ts";
import { PostgresClient } from "../../../src/client/postgres-client.ts";
import { vi } from "vitest";

/**
 * What becomes of the answer to a statement. `again`: it was lost, and the further try met what the first had done. `late`:
 * the first try was lost on its way, and is made some time after the further one. `never`: the call is given up, and what
 * it asked for is done.
 */
export type Loss = "none" | "again" | "late" | "never";

type Query = (this: PostgresClient, statement: Statement, signal: AbortSignal) => Promise<Answer<object>>;

/** Statements whose answers get lost, as a test says. */
export class LostAnswers implements Disposable {
  readonly #spy;
  #name = "";
  #loss: Loss = "none";
  #late: (() => Promise<unknown>)[] = [];

  constructor() {
    const query = Reflect.get(PostgresClient.prototype, "query") as Query;
    const making = (made: () => Promise<Answer<object>>, { name }: Statement) =>
      name === this.#name && this.#loss !== "none" ? this.#lose(made) : made();
    this.#spy = vi.spyOn(PostgresClient.prototype, "query").mockImplementation(function (
      this: PostgresClient,
      statement,
      signal,
    ) {
      return making(() => query.call(this, statement, signal), statement);
    });
  }

  /** The next statement of that name meets it. */
  next(name: string, loss: Loss): void {
    [this.#name, this.#loss] = [name, loss];
  }

  /** What was late is made now. */
  async arrive(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    for (const make of late) await make();
  }

  [Symbol.dispose](): void {
    this.#spy.mockRestore();
  }

  async #lose(make: () => Promise<Answer<object>>): Promise<Answer<object>> {
    const loss = this.#loss;
    this.#loss = "none";
    const answer = await make();
    if (loss === "never") throw new BridgeError("TIMEOUT", "no answer in time", { charged: false });
    if (loss === "late") this.#late.push(make);
    return { ...(loss === "again" ? await make() : answer), unsure: true };
  }
}
