export {
  type DlqStoreAdapter,
  type KeepsMessages,
  type LeaseStoreAdapter,
  type OutboxStoreAdapter,
  type ProcessorAdapter,
  processorAdapter,
  storeAdapter,
} from "./adapters.ts";
export { type Abortable, unwatchAbort, watchAbort } from "./abort-watch.ts";
export { type ConfigDepartures } from "./config/config-departures.ts";
export { type ConfigHistory, type ConfigHistoryChange, type ConfigHistoryEntry } from "./config/config-history.ts";
export { type ConfigLeftVersions, type LeftStore, type LeftVersion } from "./config/config-left-versions.ts";
export {
  type ConfigProbations,
  type Hindrance,
  type LeftProbation,
  type ProbationBeside,
  type ReplacedProbation,
} from "./config/config-probations.ts";
export { type ConfigStaging, type StagedConfig, type StagingRequest } from "./config/config-staging.ts";
export { type ConfigChange, type ConfigStore, ReadOnlyConfigError } from "./config/config-store.ts";
export { type ConfigText, ConfigTextError, type ConfigTexts } from "./config/config-texts.ts";
export { type ConfigVersions } from "./config/config-versions.ts";
export { type Probation, type ProbationGuard, type Reversal } from "./config/probation.ts";
export { type StoredConfig, type StorePlaces } from "./config/stored-config.ts";
export {
  type AddressedSender,
  addressedSender,
  type DlqStoreDefinition,
  type LeaseStoreDefinition,
  type NamedOptions,
  type OutboxStoreDefinition,
  type PartOptions,
  type ProcessorDefinition,
  type RateLimited,
  type ReceiverDefinition,
  type SenderDefinition,
  type SenderRateLimit,
  type Senders,
  sendersOf,
  type SessionDefinition,
  type StoreDefinition,
  type TargetDefinition,
  type TopicDefinition,
  type TransportMaker,
  type TransportUses,
  type WithSessionMode,
} from "./definition.ts";
export { type AcceptedOutcome, type Delivery, type Settlement } from "./delivery.ts";
export { deadLetterHead } from "./dead-letter-head.ts";
export {
  type DeadLetterMarks,
  type DeadLetterNote,
  type MarkChange,
  marked,
  mergedMarks,
  type RedriveMark,
} from "./dead-letter-marks.ts";
export { type DlqJobs, type StoredJob } from "./dlq-jobs.ts";
export {
  type DeadLetter,
  type DeadLetterFacts,
  type DeadLetterFilter,
  type DeadLetterHead,
  type DeadLetterOrder,
  type DeadLetterPage,
  type DeadLetterPosition,
  type DeadLetterQuery,
  type DeleteOptions,
  type DlqAdmin,
  type DlqMarks,
  type DlqStore,
  type DlqTrash,
  type FacetGroup,
  type FacetHistogram,
  type FacetKey,
  type Facets,
  type FacetsRequest,
  type KeyedPage,
  type Page,
  type TakenBack,
} from "./dlq-store.ts";
export { type Envelope, type SourceMessage } from "./envelope.ts";
export {
  BridgeError,
  type BridgeErrorOptions,
  ERROR_CLASSES,
  ERROR_CODES,
  type ErrorClass,
  type ErrorCode,
} from "./errors.ts";
export { type CodePayload, type EncodedPayload, encodePayload, type JsonValue } from "./encode-payload.ts";
export { filePlace } from "./file-place.ts";
export { type LeaseRecord, type LeaseStore } from "./lease-store.ts";
export {
  capitalised,
  carriedHeaders,
  isCarried,
  isReserved,
  type MessageHeaders,
  newHeaders,
  RESERVED,
  RESERVED_PREFIX,
} from "./headers.ts";
export {
  defineFactory,
  type DlqStorePlugin,
  type Factory,
  type LeaseStorePlugin,
  type Listening,
  type Made,
  type OutboxStorePlugin,
  type PluginContext,
  type ProcessorPlugin,
  type Reach,
  type ReceiverContext,
  type ReceiverTraits,
  type SenderContext,
  type SenderTraits,
  type SessionContext,
  type SessionMode,
  type SessionTraits,
  type LeftSessionContext,
  type StorePlugin,
  type TableMaker,
  type Topic,
  type TransportPlugin,
} from "./plugin.ts";
export { type Admission, type Processor, type ProcessorResult, type SendOutcome } from "./processor.ts";
export { type Clock, type LogFields, type Logger, type Random, type Seams, silentLogger } from "./seams.ts";
export {
  type Addressing,
  type Connection,
  type Receiver,
  type Sender,
  type Session,
  type SessionRole,
} from "./transport.ts";
export { systemClock, systemRandom } from "./system.ts";
export { parseTimestamp } from "./timestamp.ts";
export {
  boundTracestate,
  formatTraceparent,
  parseTraceFlags,
  parseTraceparent,
  readTraceContext,
  TRACE_FLAGS,
  TRACE_HEADERS,
  type TraceContext,
  writeTraceContext,
} from "./trace-context.ts";
export {
  type BindingTracer,
  type DeliveryStart,
  type RouteTracer,
  type SendStart,
  type Span,
  type TracedBinding,
  type TracedRoute,
  type Tracer,
} from "./tracer.ts";
export {
  type ClaimEnd,
  type ClaimRequest,
  type BlockedKey,
  type OutboxBacklog,
  type OutboxClaim,
  type OutboxFilter,
  type OutboxHead,
  type OutboxPlace,
  type OutboxRecord,
  type OutboxStatus,
  type OutboxStore,
  type PersistResult,
} from "./outbox-store.ts";
export { type StoreHealth, type TellsHealth } from "./store-health.ts";
