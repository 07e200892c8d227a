import { deadLetter, type DeadLetterFields } from "@bridge/conformance";
import { openFileDlq } from "@bridge/dlq-file";
import { type DeadLetter, type DlqStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { openPostgresDlq } from "@bridge/postgres";
import { PATIENCE } from "@bridge/tooling/patience";
import type { TestSchema } from "@bridge/tooling/test-postgres";

type JobsStore = DlqStore & Required<Pick<DlqStore, "page">>;

/** The dead letters of a bridge that does not run, in the store that it has when it does. */
export interface Letters {
  /** The block of its document. */
  readonly block: string;
  open(): Promise<JobsStore>;
}

const SEAMS = { clock: systemClock, random: systemRandom(), logger: silentLogger };
const AT_ONCE = 100;

export function lettersInFile(path: string): Letters {
  return {
    block: `{type: file, options: {path: "${path}"}}`,
    open: async () => openFileDlq({ ...SEAMS, path }),
  };
}

/** The tables are made by whoever runs the bridge. */
export function lettersInPostgres({ connection }: TestSchema): Letters {
  return {
    block: `{type: postgres, options: {url: "${connection.url}", schema: ${connection.schema}}}`,
    open: () => openPostgresDlq({ ...SEAMS, connection }, AbortSignal.timeout(PATIENCE.timeout)),
  };
}

/** Of binding `to-out` of route `only`: `e0`, `e1`, …, each with its id as subject and payload. */
export function letterOf(nth: number, fields: DeadLetterFields = {}): DeadLetter {
  const id = `e${nth}`;
  return deadLetter(id, {
    routeId: "only",
    bindingId: "to-out",
    subject: id,
    failedAt: 1_700_000_000_000 + nth,
    ...fields,
    envelope: { id: `original-${id}`, subject: id, payload: new TextEncoder().encode(id), ...fields.envelope },
  });
}

export async function fillLetters(letters: Letters, count: number): Promise<readonly string[]> {
  await using store = await letters.open();
  const all = Array.from({ length: count }, (_, nth) => letterOf(nth));
  for (let start = 0; start < count; start += AT_ONCE)
    await Promise.all(
      all.slice(start, start + AT_ONCE).map((entry) => store.put(entry, AbortSignal.timeout(PATIENCE.timeout))),
    );
  return all.map(({ id }) => id);
}

/** Those that a job has marked as failed. */
export async function markedBy(letters: Letters, jobId: string): Promise<ReadonlySet<string>> {
  await using store = await letters.open();
  const marked = new Set<string>();
  let after: { readonly failedAt: number; readonly id: string } | undefined;
  do {
    const page = { limit: 1_000, budget: 100_000, order: "oldest", after } as const;
    const { entries, next } = await store.page({ jobId }, page, AbortSignal.timeout(PATIENCE.timeout));
    for (const { id } of entries) marked.add(id);
    after = next;
  } while (after !== undefined);
  return marked;
}
