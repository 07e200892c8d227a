import type { MemoryDlq } from "@bridge/dlq-memory";
import type { DlqStore, DlqTrash, StoredJob, TakenBack } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import type { Owner } from "../time/virtual-time.ts";
import type { Trace } from "../trace.ts";
import type { Remote } from "./remote.ts";

/** What the world asks for itself is never given up. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Of marks, in place of a job: it was redriven alone. */
const NO_JOB = "redrive";

/** The store behind the network. */
export interface KeptLetters {
  readonly kept: MemoryDlq;
  readonly options: { readonly auditor: Auditor; readonly trace: Trace; readonly estimates?: boolean | undefined };
  /** Which ids of a batch are in the trash. */
  trashed(batch: string): readonly string[];
  discardFor(ids: readonly string[], batch: string, until: number): Promise<ReadonlySet<string>>;
  takeBack(batch: string, limit: number): Promise<TakenBack>;
}

type Parts = Required<Pick<DlqStore, "page" | "facets" | "marks" | "jobs">> & { readonly trash: DlqTrash };

/** The optional parts of a store of dead letters, as one instance uses them. */
export function dlqParts(letters: KeptLetters, service: Pick<Remote, "ask">, owner: Owner): Parts {
  const { kept, options } = letters;
  const { auditor, trace } = options;
  const { jobs } = kept;
  const ask = <Answer>(signal: AbortSignal, work: () => Promise<Answer>, writes = false): Promise<Answer> =>
    service.ask(owner, signal, { work, writes });
  const put = async (job: StoredJob, expected: number | undefined): Promise<boolean> => {
    const written = await jobs.put(job, expected, NEVER);
    const lines = written ? auditor.jobs.written(job, letters.trashed(job.id).length) : [];
    for (const line of lines) trace.add(line);
    return written;
  };
  return {
    page: (query, page, signal) => ask(signal, () => kept.page(query, page, NEVER)),
    facets: (request, signal) =>
      ask(signal, async () => {
        const found = await kept.facets(request, NEVER);
        return options.estimates === true ? { ...found, exact: false } : found;
      }),
    marks: {
      mark: (changes, signal) =>
        ask(
          signal,
          async () => {
            for (const [id, { redriven }] of changes) if (redriven) auditor.jobs.redrives.failed(id, redriven);
            const there = await kept.marks.mark(changes, NEVER);
            for (const id of there) {
              const entry = await kept.get(id, NEVER);
              auditor.jobs.redrives.counted(id, entry?.marks?.redrives?.count ?? 0);
            }
            for (const [id, { redriven, quarantined }] of changes) {
              if (quarantined !== undefined) auditor.jobs.letters.quarantined(id, quarantined);
              if (there.has(id) && redriven?.jobId !== undefined && redriven.jobId !== NO_JOB) {
                trace.add(`DLQ: ${id} has failed in try ${redriven.jobTry} of ${redriven.jobId}`);
                auditor.jobs.marked(owner, id, redriven.jobId, redriven.jobTry ?? 0);
              }
            }
            return there;
          },
          true,
        ),
    },
    jobs: {
      get: (id, signal) => ask(signal, () => jobs.get(id, NEVER)),
      list: (request, signal) => ask(signal, () => jobs.list(request, NEVER)),
      put: (job, expected, signal) => ask(signal, () => put(job, expected), true),
      delete: (ids, signal) => ask(signal, () => jobs.delete(ids, NEVER)),
    },
    trash: {
      move: (ids, batch, until, signal) => ask(signal, () => letters.discardFor(ids, batch, until), true),
      restore: (batch, limit, signal) => ask(signal, () => letters.takeBack(batch, limit), true),
      count: (cap, signal, batch) => ask(signal, () => kept.admin.trash.count(cap, NEVER, batch)),
    },
  };
}
