export { checkDocument, type CheckedDocument } from "./check-document.ts";
export type * from "./bridge-document.ts";
export { emptyConfig } from "./empty-config.ts";
export type * from "./model.ts";
export { ConfigError, formatPath, formatProblem, type Path, type Problem } from "./problem.ts";
export { configJsonSchema } from "./published/json-schema.ts";
export { adapterTypes, documentTypes } from "./published/option-types.ts";
export { overlayJsonSchema } from "./published/overlay-schema.ts";
export { adapterReference, configReference } from "./published/reference-page.ts";
export { referencedDocument, type ReferencedDocument } from "./referenced-document.ts";
export {
  type ReferenceReaders,
  type ReferenceSources,
  resolveReferences,
  type ResolvedDocument,
} from "./references.ts";
export { createRegistry, type Plugins, type Registry } from "./registry.ts";
export { samePlace } from "./same-place.ts";
export { Veil } from "./veil.ts";
export { holds, type StopBudget, stopBudget } from "./stop-budget.ts";
export { noStoreFactory } from "./store-factory.ts";
export type { ChangePlan, ConfigApplier, PartsPlan, Trial } from "./transaction/applier.ts";
export { type Stranded, type Stranding, strandingOf } from "./transaction/stranding.ts";
export { quotes } from "./check/hidden-values.ts";
export { REDACTED } from "./redacted.ts";
export { confirmed, unconfirmedCommit } from "./transaction/commit-history.ts";
export type {
  CommitResult,
  CommitTrial,
  ConfigTransactions,
  ConfigView,
  Difference,
  DryRun,
  Inspection,
  KnownCommit,
  NotApplied,
  Patched,
  ShownText,
  TransactionInfo,
} from "./transaction/contract.ts";
export { settleStaged } from "./transaction/left-staged.ts";
export type { LeftBehind } from "./transaction/left-behind.ts";
export { keepLeft } from "./transaction/keep-left.ts";
export { keptLeftovers } from "./transaction/leftovers.ts";
export type { SettledProbation } from "./transaction/left-probation.ts";
export { elsewhereNow, placesOf, samePlaces, whyElsewhere } from "./transaction/store-places.ts";
export { namedStores, type StoresOf } from "./transaction/named-stores.ts";
export { type SettledStart, settleProbation } from "./transaction/settle-probation.ts";
export { leftByDeparture } from "./transaction/left-departure.ts";
export type { Revert, Reverted } from "./transaction/on-probation.ts";
export { OverlayError } from "./transaction/overlay-error.ts";
export { type ConflictReason, TransactionError, type TransactionErrorKind } from "./transaction/transaction-error.ts";
export { createConfigTransactions } from "./transaction/transactions.ts";
export { type ConfigTransactionsOptions } from "./transaction/transactions-options.ts";
export { parseConfig, validateConfig, type ValidateOptions, type Validation } from "./validate.ts";
export type {
  FileFault,
  FileNamed,
  FileUse,
  NamedPemFile,
  StartChecks,
  Surroundings,
  UnusableFile,
  UsualServers,
} from "./surroundings.ts";
