import { createHash } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { fillLetters, type Letters, lettersInFile, lettersInPostgres } from "./support/letters.ts";
import { Stage } from "./support/stage.ts";

const ENTRIES = 5_000;
const AT_ONCE = 50;
/** What becomes of some of each ten while they are exported. */
const [PURGED, KEPT_BACK, CHANGED] = [3, 5, 7];

interface Line {
  readonly entry?: { readonly id: string; readonly quarantined?: boolean };
  readonly error?: string;
  readonly end?: boolean;
  readonly count?: number;
  readonly sha256?: string;
  readonly warning?: string;
}

/** What another client does to some entries, one kind of change for each. */
interface Other {
  purge(ids: readonly string[]): Promise<void>;
  keepBack(ids: readonly string[]): Promise<void>;
  /** In the store itself, past the bridge. */
  change(ids: readonly string[]): Promise<void>;
}

/** What an export comes to. */
const AS_IT_SHOULD = { isWhole: true, isInOrder: true, missing: [], unreadable: [] };

test("operators 4: an export from a file has what is there all the time once, whatever becomes of the rest meanwhile", async () => {
  const folder = new Folder();
  // Nobody else can write to a file that a bridge has open.
  const { amid, ...account } = await exportedAmidChanges(folder, lettersInFile(join(folder.path, "dlq.db")));
  expect(account).toEqual(AS_IT_SHOULD);
  for (const some of [amid.purged, amid.keptBack]) expect(some).toBe(true);
});

test.skipIf(noPostgres)(
  "operators 4: an export from PostgreSQL has what is there all the time once, whatever becomes of the rest meanwhile",
  async () => {
    await using tables = await testSchema();
    const folder = new Folder();
    const letters = lettersInPostgres(tables);
    await using maker = folder.run(["-create-tables", "-config", folder.write("tables.yaml", documentOf(letters))]);
    expect(await maker.ended).toBe(0);
    const { amid, ...account } = await exportedAmidChanges(folder, letters, async (ids) => {
      const entries = `${tables.connection.schema}.dead_letters`;
      await tables.rows(`UPDATE ${entries} SET payload = 'other' WHERE id = ANY($1)`, [ids]);
    });
    expect(account).toEqual(AS_IT_SHOULD);
    expect(amid).toEqual({ purged: true, keptBack: true, changed: true });
  },
);

async function exportedAmidChanges(folder: Folder, letters: Letters, change?: Other["change"]) {
  const all = await fillLetters(letters, ENTRIES);
  await using stage = await Stage.run(documentOf(letters), {}, folder);
  const admin = async (path: string, body: object): Promise<void> => {
    expect(await stage.admin("POST", path, body)).toMatchObject({ status: 200 });
  };
  const other: Other = {
    purge: (ids) => admin("/dlq/delete", { ids }),
    keepBack: (ids) => admin("/dlq/annotate", { ids, quarantined: true }),
    change: change ?? (() => Promise.resolve()),
  };
  const url = `${await stage.bridge.url("admin")}/api/v1/admin/dlq/export?payload=true`;
  const { lines, sha256 } = await taken(await begun(url), changesOf(all, other));
  const last = lines.pop();
  const unread = lines.filter(({ error }) => error !== undefined).map(({ entry }) => entry?.id ?? "");
  const warning = `${unread.length} could not be read: their lines say why, and cannot be imported`;
  const end = { v: 1, end: true, count: lines.length, sha256, ...(unread.length > 0 && { warning }) };
  const ids = lines.map(({ entry }) => entry?.id ?? "");
  const exported = new Set(ids);
  const kindOf = (id: string): number => Number(id.slice(1)) % 10;
  const isSome = (count: number): boolean => count > 0 && count < ENTRIES / 10;
  return {
    isWhole: isDeepStrictEqual(last, end),
    // By their times: so none is there twice.
    isInOrder: isDeepStrictEqual(
      ids,
      all.filter((id) => exported.has(id)),
    ),
    missing: all.filter((id) => !exported.has(id) && kindOf(id) !== PURGED),
    unreadable: unread.filter((id) => kindOf(id) !== CHANGED),
    /** Each kind of change came before the export was there for some entries, and behind it for others. */
    amid: {
      purged: isSome(ids.filter((id) => kindOf(id) === PURGED).length),
      keptBack: isSome(lines.filter(({ entry }) => entry?.quarantined === true).length),
      changed: isSome(unread.length),
    },
  };
}

/** All that the other client does, from both ends to the middle, so that some is done where the export has been and some where it comes. */
function* changesOf(all: readonly string[], other: Other): Generator<() => Promise<void>> {
  const kinds = [
    [PURGED, (ids: readonly string[]) => other.purge(ids)],
    [KEPT_BACK, (ids: readonly string[]) => other.keepBack(ids)],
    [CHANGED, (ids: readonly string[]) => other.change(ids)],
  ] as const;
  const of = (kind: number): readonly string[] => all.filter((_, nth) => nth % 10 === kind);
  for (let at = 0; at < ENTRIES / 10 / 2; at += AT_ONCE)
    for (const [kind, work] of kinds) {
      const ids = of(kind);
      yield () => work([...ids.slice(at, at + AT_ONCE), ...ids.slice(ids.length - at - AT_ONCE, ids.length - at)]);
    }
}

async function begun(url: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers: { "X-API-Key": ADMIN_KEY } }), "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}

/** Takes an answer, with a change after each part of it, as long as there are any. */
async function taken(
  response: IncomingMessage,
  changes: Iterator<() => Promise<void>>,
): Promise<{ readonly lines: Line[]; readonly sha256: string }> {
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    const change = changes.next();
    if (change.done !== true) await change.value();
  }
  expect(changes.next().done).toBe(true);
  const body = Buffer.concat(parts);
  const end = body.lastIndexOf("\n", body.length - 2) + 1;
  const lines = body
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { lines, sha256: createHash("sha256").update(body.subarray(0, end)).digest("hex") };
}

function documentOf({ block }: Letters): string {
  return `${HTTP}
bridge: {id: exporting}
stores: {dlq: ${block}}
`;
}
