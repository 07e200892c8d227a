/** The limits of spec 8 that this server sets; that of bodies is `@bridge/http-kit`'s. */
export const LIMITS = {
  redriveIds: 100,
  deleteIds: 1_000,
  /** Of a delete by filter, in one call of the store: what any store does well within its time. */
  deleteBatch: 1_000,
  annotateIds: 1_000,
  moveIds: 100,
  listDefault: 100,
  listMax: 1_000,
  listOffsetMax: 100_000,
  /** Entries that a page by key looks at; it may then be short, and still have a next one. */
  pageScan: 10_000,
  summaryScan: 1_000,
  groups: 200,
  buckets: 200,
  noteLength: 1_000,
  assigneeLength: 128,
  /** At once, in a process. */
  tails: 8,
  tailRateMax: 500,
  tailMaxMs: 15 * 60_000,
  exports: 4,
  exportsOfCaller: 2,
  /** Entries of an export that are looked for at once. */
  exportPage: 200,
  /** Of one import: shorter ones say nothing. */
  importLines: 10_000,
  /** Clocks may differ by so much: an entry of another instance may have failed after this one's now. */
  importSkewMs: 60_000,
  /** Heads and records that a search looks at where a store cannot find them. */
  traceScan: 10_000,
  /** No entry has a longer id. */
  idLength: 256,
  /** Of a filter: no id of a message is longer. */
  messageText: 1_024,
  idempotencyKey: 128,
  jobsDefault: 50,
  jobsMax: 200,
  /** Of a configuration that is shown: parts of each kind, problems of it, and characters of a diff. */
  configParts: 500,
  configProblems: 100,
  configDiffLength: 262_144,
  /** Of a configuration transaction. */
  ttlMaxMs: 30 * 60_000,
  /** Of a change that reverts itself. */
  confirmWithinMinMs: 10_000,
  confirmWithinMaxMs: 60 * 60_000,
  reasonLength: 500,
  operationTimeoutMs: 30_000,
  /** Of what looks into a store, and of a change of the DLQ. */
  lookTimeoutMs: 20_000,
  redriveTimeoutMs: 60_000,
} as const;
