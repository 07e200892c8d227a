import { DatabaseSync } from "node:sqlite";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Job } from "@bridge/core";
import { deadLetter } from "@bridge/conformance";
import { fileDlq } from "@bridge/dlq-file";
import { type DeadLetter, type DlqStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { isSpoiled } from "@bridge/ports/internal";
import { postgresDlq } from "@bridge/postgres";
import { PATIENCE } from "@bridge/tooling/patience";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { Folder } from "./support/folder.ts";

const HOUR_MS = 3_600_000;
/** Undos; sixteen jobs may be active. */
const AT_ONCE = 12;
const SETTINGS = {
  rate: 5_000,
  concurrency: 1,
  ramp: [],
  rampPauseMs: 0,
  halt: { failureRatio: 1, minAttempts: 20, consecutive: 0 },
} as const;
const SEAMS = { clock: systemClock, random: systemRandom(), logger: silentLogger, id: "dlq" };
const bound = (): AbortSignal => AbortSignal.timeout(PATIENCE.timeout);

const TEXTS = ["''", "'text'", "'{'"];
const NUMBERS = ["0", "-1", "5000", "9000000000000000"];
/** What somebody may make of a column of an entry in the trash. */
const OF_TRASH: readonly (readonly [column: string, values: readonly string[]])[] = [
  ...["route_id", "binding_id", "category", "error_code", "fingerprint", "head", "marks", "envelope"].map(
    (column) => [column, TEXTS] as const,
  ),
  ["id", ["'other'"]],
  ["batch", ["'text'"]],
  ["failed_at", NUMBERS],
  ["until", NUMBERS],
];
/** And of a job. The last one makes it older, or younger. */
const OF_JOBS: readonly (readonly [column: string, values: readonly string[]])[] = [
  ["revision", ["0", "9", "9000000000000000"]],
  ["state", [...TEXTS, "'undoing'", "'planned'", "'running'", "'undone'"]],
  ["created_at", NUMBERS],
  [
    "document",
    [...TEXTS, `'{"undoUntil":1,"endedAt":1}'`, `replace(document, ':1', ':')`, `replace(document, ':1', ':11')`],
  ],
];
const changesOf = (columns: typeof OF_TRASH) =>
  columns.flatMap(([column, values]) => values.map((value) => ({ column, value })));

interface Place extends AsyncDisposable {
  readonly options: Readonly<Record<string, unknown>>;
  readonly table: (name: "trash" | "job") => string;
  readonly change: (sql: string) => Promise<unknown> | void;
}

const PLACES: Readonly<Record<"file" | "postgres", () => Promise<Place>>> = {
  file: () => {
    const folder = new Folder();
    const path = `${folder.path}/dlq.db`;
    return Promise.resolve({
      options: { path },
      table: (name) => `dead_letter_${name}`,
      change(sql) {
        using db = new DatabaseSync(path);
        db.exec(sql);
      },
      [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
    });
  },
  postgres: async () => {
    const schema = await testSchema();
    const { url, schema: name } = schema.connection;
    return {
      options: { url, schema: name },
      table: (table) => `${name}.dead_letter_${table === "job" ? "jobs" : table}`,
      change: (sql) => schema.rows(sql),
      [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose](),
    };
  },
};

describe.each(["file", "postgres"] as const)("a purge of a DLQ on %s that is over", (type) => {
  const skipped = type === "postgres" && noPostgres;

  async function opened(place: Place, entries: readonly DeadLetter[]) {
    const registry = createRegistry({ dlqStores: [fileDlq, postgresDlq] });
    const document = { bridge: { id: "b" }, stores: { dlq: { type, options: place.options } } };
    const config = parseConfig(document, registry);
    if (type === "postgres") await postgresDlq.createTables?.(config.stores.dlq?.options, SEAMS)(bound());
    const supervisor = createSupervisor({ config, registry, ...SEAMS });
    await supervisor.start(bound());
    const dlq = supervisor.dlq() as DlqStore;
    for (const entry of entries) await dlq.put(entry, bound());
    const jobs = supervisor.jobs();
    const until = async (id: string, state: Job["state"]): Promise<Job> => {
      const over = async () => {
        const { state: now, owner } = await jobs.get(id, bound());
        return [now, owner];
      };
      await expect.poll(over, { ...PATIENCE, interval: 20 }).toEqual([state, undefined]);
      return jobs.get(id, bound());
    };
    return {
      dlq,
      until,
      job: (id: string) => jobs.get(id, bound()),
      undo: (id: string) => jobs.ask(id, { call: "undo" }, bound()),
      async purged(query: { routeId?: string } = {}): Promise<Job> {
        const order = {
          kind: "purge",
          query,
          reason: "a test",
          actor: "alice",
          undoWithinMs: HOUR_MS,
          settings: SETTINGS,
        } as const;
        const { job } = await jobs.plan(order, bound());
        await jobs.start(job.id, { planHash: job.plan.hash }, bound());
        return until(job.id, "completed");
      },
      [Symbol.asyncDispose]: async () => supervisor.shutdown(),
    };
  }

  test.skipIf(skipped)(
    "is undone whole, whatever somebody has made of entries in the trash: each is as it was, told as spoiled, or counted as gone",
    { timeout: PATIENCE.timeout },
    async () => {
      const changes = changesOf(OF_TRASH);
      const entries = [...changes, ...changes.slice(0, 5)].map((_, nth) =>
        deadLetter(`e${nth}`, { failedAt: 1_000 + nth }),
      );
      await using place = await PLACES[type]();
      await using bridge = await opened(place, entries);
      const job = await bridge.purged();
      expect(job.counts).toMatchObject({ succeeded: entries.length });
      for (const [nth, { column, value }] of changes.entries())
        await place.change(`UPDATE ${place.table("trash")} SET ${column} = ${value} WHERE id = 'e${nth}'`);
      await bridge.undo(job.id);
      const { counts, errors } = await bridge.until(job.id, "undone");
      expect(counts).toMatchObject({ restored: entries.length - 1, gone: 1 });
      expect(errors).toMatchObject([{ count: 1 }]);
      const heads = await bridge.dlq.list({}, { limit: 999, offset: 0 }, bound());
      const moved = changes.findIndex(({ column }) => column === "batch");
      const renamed = changes.findIndex(({ column }) => column === "id");
      expect(heads.map(({ id }) => id).toSorted()).toEqual(
        entries.flatMap(({ id }, nth) => (nth === moved ? [] : [nth === renamed ? "other" : id])).toSorted(),
      );
      for (const [nth, entry] of entries.entries()) {
        if (nth === moved) continue;
        const got = await bridge.dlq.get(nth === renamed ? "other" : entry.id, bound()).catch((error: unknown) => {
          if (!isSpoiled(error)) throw error;
          return "spoiled";
        });
        const isSame = changes[nth] === undefined || changes[nth].column === "until";
        if (isSame || got !== "spoiled") expect([changes[nth], got]).toEqual([changes[nth], entry]);
      }
    },
  );

  test.skipIf(skipped)(
    "is undone whole, whatever somebody has made of its job, and is told as damaged until then",
    { timeout: PATIENCE.timeout },
    async () => {
      const changes = changesOf(OF_JOBS);
      const entries = changes.map((_, nth) => deadLetter(`e${nth}`, { routeId: `r${nth}`, failedAt: 1_000 + nth }));
      await using place = await PLACES[type]();
      const ids: string[] = [];
      {
        await using bridge = await opened(place, entries);
        for (const { routeId } of entries) ids.push((await bridge.purged({ routeId })).id);
        for (const [nth, { column, value }] of changes.entries())
          await place.change(`UPDATE ${place.table("job")} SET ${column} = ${value} WHERE id = '${ids[nth]}'`);
      }
      // Its first sweep comes when it is opened.
      await using bridge = await opened(place, []);
      const undone = async (nth: number): Promise<void> => {
        const id = ids[nth] ?? "";
        const { state } = await bridge.job(id);
        await bridge.undo(id);
        const { counts } = await bridge.until(id, "undone");
        const change = changes[nth];
        expect({ change, state, counts }).toMatchObject({ change, state: "failed", counts: { restored: 1 } });
      };
      const all = [...ids.keys()];
      while (all.length > 0) await Promise.all(all.splice(0, AT_ONCE).map(undone));
      for (const entry of entries) expect(await bridge.dlq.get(entry.id, bound())).toEqual(entry);
    },
  );
});
