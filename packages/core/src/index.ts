export {
  type BridgeDefinition,
  type RouteDefinition,
  type StoreDefinitions,
  type Target,
  type TargetsByName,
} from "./define/bridge-definition.ts";
export { defineBridge, type DefinedBridge, type StartOptions } from "./define/define-bridge.ts";
export { type HistogramStats } from "./accounting/histogram.ts";
export { redrive, type RedriveOptions, type RedriveTarget } from "./dlq/redrive.ts";
export { type RedrivenEntry } from "./dlq/redrive-entry.ts";
export { type RedriveFailure, type RedriveResult } from "./dlq/redrive-result.ts";
export { type AheadOptions, failedAhead } from "./dlq-job/clock-skew.ts";
export {
  isOver,
  type Job,
  JOB_STATES,
  type JobCounts,
  type JobKind,
  type JobLane,
  type JobRequest,
  type JobSettings,
  type JobState,
} from "./dlq-job/job.ts";
export { type JobEvent } from "./dlq-job/job-parts.ts";
export { type JobPlan, type PlannedEntry, type PlannedLane, type Prediction } from "./dlq-job/job-plan.ts";
export { type JobDraft } from "./dlq-job/job-planner.ts";
export { JobRefusal, type JobRefusalReason } from "./dlq-job/job-refusal.ts";
export { type JobOutcome, JOB_OUTCOMES, type JobStats } from "./dlq-job/job-tallies.ts";
export {
  type JobFacts,
  type JobOrder,
  type Jobs,
  type JobsRequest,
  type SettingsChange,
  type StartRequest,
} from "./dlq-job/jobs.ts";
export { planExpiresAt } from "./dlq-job/plan-expiry.ts";
export { type JobProgress, progressOf } from "./dlq-job/progress.ts";
export { type MoveResult } from "./outbox/dead-letter-record.ts";
export { drainedBy } from "./outbox/undrained.ts";
export {
  type BridgeHooks,
  type DeadLetterEvent,
  type FailedAttempt,
  type Hook,
  type HookContext,
  type HookName,
  type MessageHead,
  type ProgressChange,
  type StateChange,
} from "./hooks/bridge-hooks.ts";
export { LeaseLost } from "./lease/lease-lost.ts";
export { OperationError, type OperationErrorKind } from "./operation-error.ts";
export {
  type BindingStep,
  explain,
  type ExplainOptions,
  type Explanation,
  type ProcessorStep,
} from "./route/explain.ts";
export { headersInAddress } from "./route/address-template.ts";
export { deadLetterId } from "./route/identity.ts";
export { INGRESS_LIMITS } from "./route/ingress.ts";
export { type InjectedMessage } from "./route/injected-message.ts";
export { type InjectResult } from "./route/inject-result.ts";
export type { ConditionRule, OutsideFacts, Severity } from "./record/condition-facts.ts";
export { CONDITION_RULES } from "./record/condition-rules.ts";
export { type Condition } from "./record/conditions.ts";
export { type LegReading, legReading, sendQuantile } from "./record/leg-reading.ts";
export { createRecorder, type Recorder, type RecorderOptions } from "./record/recorder.ts";
export { SERIES_WINDOWS, type SeriesView, type SeriesWindow } from "./record/series.ts";
export { SERIES, type SeriesName } from "./record/series-ring.ts";
export { type RecentLeg } from "./recent/recent-legs.ts";
export { type Whereabouts } from "./recent/whereabouts.ts";
export { type InFlightPlace } from "./route/in-flight.ts";
export { StopError } from "./runtime/stop-phases.ts";
export {
  type InjectOptions,
  type RedriveEntryRequest,
  type Supervisor,
  type SupervisorState,
  type TerminalCause,
} from "./supervisor/contract.ts";
export { createSupervisor, instanceIdOf, type SupervisorOptions } from "./supervisor/create-supervisor.ts";
export { unfinishedDeparture, type UnfinishedDeparture } from "./supervisor/unfinished-departure.ts";
export {
  type BridgeView,
  type ComponentFailure,
  type HealthStatus,
  READINESS_LEVELS,
  type ReadinessLevel,
  type Role,
  type RouteProgress,
  type RouteView,
  type ServiceLevel,
  type SessionView,
  type StoreState,
  type StoreView,
} from "./view/bridge-view.ts";
export { PROGRESS, type Progress } from "./view/progress.ts";
export { type Tap, type TapOptions, type TappedBatch, type TappedLeg, type TappedMessage } from "./tap/tap.ts";
export { Veils } from "./veils.ts";
export { veiledFields } from "./veiled-logger.ts";
export {
  type BridgeStats,
  type Disposition,
  DISPOSITIONS,
  type HookStats,
  type LeaseStats,
  type LegStats,
  type PartStats,
  type RouteStats,
  type SessionStats,
} from "./view/stats.ts";
