import { PATIENCE } from "@bridge/tooling/patience";
import { once, EventEmitter } from "node:events";
import { queryObjects } from "node:v8";
import { type Clock, systemClock } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClient } from "./support/clients.ts";

const { signal } = new AbortController();
/** How long a silent connection is not asked. */
const BEAT_MS = 10_000;

describe.skipIf(noPostgres)("hearing a channel", () => {
  let schema: TestSchema;
  beforeAll(async () => {
    schema = await testSchema();
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  test("tells what is notified, on a connection of its own, and again after that is lost", async () => {
    const channel = `Ch ${schema.connection.schema}`;
    const notify = (payload: string) => schema.rows("SELECT pg_notify($1, $2)", [channel, payload]);
    await using client = openClient({ ...schema.connection, pool_size: 1 }, { clock: systemClock });
    const events = new EventEmitter();
    const next = async (name: string) =>
      (await once(events, name, { signal: AbortSignal.timeout(PATIENCE.timeout) }))[0] as string;
    const heard = next("hearing");
    const hearing = client.listen(channel, {
      onNotified: (payload) => events.emit("notified", payload),
      onHearing: () => events.emit("hearing"),
    });
    await heard;
    expect(hearing.hears).toBe(true);
    const first = next("notified");
    await notify("first");
    expect(await first).toBe("first");
    // The pool's only connection is free all the while.
    await client.query({ what: "looking", text: "SELECT 1" }, signal);

    const again = next("hearing");
    await schema.rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' || $1 || '%'",
      [schema.connection.schema],
    );
    await again;
    const second = next("notified");
    await notify("second");
    expect(await second).toBe("second");

    const left = async () =>
      schema.rows("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN %' || $1 || '%'", [
        schema.connection.schema,
      ]);
    expect(await left()).toHaveLength(1);
    hearing[Symbol.dispose]();
    while ((await left()).length > 0) await systemClock.delay(5, signal);
    expect(hearing.hears).toBe(false);
  });

  test("keeps nothing of the beats that found its connection well", async () => {
    const BEATS = 500;
    let beats = 0;
    const reached = new EventEmitter();
    const clock: Clock = {
      ...systemClock,
      async delay(ms, bound) {
        if (ms !== BEAT_MS) return systemClock.delay(ms, bound);
        reached.emit(`${++beats}`);
        // What has passed is measured while the hearing waits for a beat.
        if (beats % BEATS === 0) await once(reached, "go on");
        bound.throwIfAborted();
      },
    };
    const rest = async (after: number): Promise<number> => {
      await once(reached, `${after}`, { signal: AbortSignal.timeout(PATIENCE.timeout) });
      return queryObjects(Promise, { format: "count" });
    };
    await using client = openClient(schema.connection, { clock });
    const first = rest(BEATS);
    using _ = client.listen("beats", { onNotified() {} });
    const before = await first;
    const second = rest(2 * BEATS);
    reached.emit("go on");
    expect((await second) - before).toBeLessThan(BEATS / 2);
    reached.emit("go on");
  });
});
