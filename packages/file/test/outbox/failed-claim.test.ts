import { expect, test } from "vitest";
import type { FileDatabase } from "../../src/database/file-database.ts";
import { claim } from "../../src/outbox/claim.ts";
import { list } from "../../src/outbox/look.ts";
import type { OutboxStatements } from "../../src/outbox/outbox-statements.ts";
import { persist } from "../../src/outbox/persist.ts";
import { openParts } from "./support/parts.ts";
import { outboxRecord, ROUTE } from "./support/records.ts";
import { scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const LIMITS = { queueLength: 3, maxQueueLength: 1_000, chunk: 2, contentBytes: 3_000 };
const CLAIM = { ...ROUTE, limit: 10, loanMs: 60_000 };
const IDS = ["a", "b", "c", "d", "e", "f", "g"];

test.each([1, 2, 3, 4])(
  "a claim gives back at once what it has lent when the file fails at its read %i",
  async (at) => {
    using scratch = scratchFolder();
    await using parts = openParts(scratch.path, LIMITS);
    await persist(
      parts,
      IDS.map((id) => outboxRecord(id)),
    );
    let reads = 0;
    const failing = {
      writable: true,
      read(query: Parameters<typeof parts.file.read>[0]) {
        if (++reads === at) throw new Error("EIO");
        return parts.file.read(query);
      },
    };
    const file = failing as unknown as FileDatabase<OutboxStatements>;
    await expect(claim({ ...parts, file }, CLAIM, signal)).rejects.toThrow("EIO");
    expect(list(parts, {}, { limit: 10, offset: 0 }).filter(({ lent }) => lent)).toEqual([]);
    expect((await claim(parts, CLAIM, signal)).map(({ record }) => record.id)).toEqual(IDS);
  },
);
