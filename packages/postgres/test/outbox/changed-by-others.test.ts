import { BridgeError, type OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { makeTables, openOn } from "./support/outbox.ts";
import { claimAll, idsOf, recordOf, recordsOf } from "./support/records.ts";

const signal = AbortSignal.timeout(60_000);

describe.skipIf(noPostgres)("an outbox whose sequences somebody has set back", () => {
  test("holds that against itself and not against the message, and takes it when it can", async () => {
    await using tables = await makeTables();
    await using store = await openOn(tables.connection);
    await store.persist(recordsOf(5), signal);
    await tables.schema.rows(
      `SELECT setval(format('%I.%I', schemaname, sequencename), 1, false) FROM pg_sequences
       WHERE schemaname = '${tables.connection.schema}'`,
    );
    const late = recordOf("late");
    const met: string[] = [];
    for (let tries = 0; tries < 10 && met.at(-1) !== "persisted"; tries++) met.push(await persisted(store, late));
    expect(new Set(met.slice(0, -1))).toEqual(new Set(["UNAVAILABLE"]));
    expect(met.at(-1)).toBe("persisted");
    expect(idsOf(await claimAll(store, signal))).toContain(late.id);
  });
});

/** What the store says to it, or the code of the fault. */
async function persisted(store: OutboxStore, record: ReturnType<typeof recordOf>): Promise<string> {
  try {
    return (await store.persist([record], signal))[0]?.kind ?? "nothing";
  } catch (error) {
    return BridgeError.from(error).code;
  }
}
