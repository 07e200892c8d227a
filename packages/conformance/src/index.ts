export { type Case, type Excuses } from "./case.ts";
export {
  type ConfigDepartureCaseName,
  configDepartureCases,
  type ConfigDepartureSubject,
} from "./config-departures/config-departure-cases.ts";
export { describeConfigDepartures } from "./config-departures/describe-config-departures.ts";
export {
  type ConfigProbationCaseName,
  configProbationCases,
  type ConfigProbationSubject,
} from "./config-probations/config-probation-cases.ts";
export { describeConfigProbations } from "./config-probations/describe-config-probations.ts";
export {
  type ConfigStagingCaseName,
  configStagingCases,
  type ConfigStagingSubject,
} from "./config-staging/config-staging-cases.ts";
export { describeConfigStaging } from "./config-staging/describe-config-staging.ts";
export { type ConfigStoreCaseName, configStoreCases } from "./config-store/config-store-cases.ts";
export {
  type ConfigDocument,
  type ConfigLeaver,
  type ConfigPlace,
  type ConfigStoreSubject,
} from "./config-store/config-store-subject.ts";
export { describeConfigStore } from "./config-store/describe-config-store.ts";
export { deadLetter, type DeadLetterFields } from "./dlq/dead-letters.ts";
export { describeDlqParts } from "./dlq/describe-dlq-parts.ts";
export { describeDlqStore } from "./dlq/describe-dlq-store.ts";
export { type DlqPartCaseName, dlqPartCases } from "./dlq/dlq-part-cases.ts";
export { type DlqPart, type DlqPartsSubject } from "./dlq/dlq-parts-subject.ts";
export { type DlqStoreCaseName, dlqStoreCases } from "./dlq/dlq-store-cases.ts";
export { type DlqStoreSubject } from "./dlq/dlq-store-subject.ts";
export { type QueriesOf, workThrough } from "./dlq/work-through.ts";
export { HandClock } from "./harness/hand-clock.ts";
export { patientClock } from "./harness/patient-clock.ts";
export { SuiteClock } from "./harness/suite-clock.ts";
export { describeHostileSource } from "./hostile/describe-hostile-source.ts";
export { type HostileCaseName, hostileCases } from "./hostile/hostile-cases.ts";
export { type HostileSubject, type ServerPlace, type StandInPlace } from "./hostile/hostile-subject.ts";
export { describeLeaseStore } from "./lease/describe-lease-store.ts";
export { type LeaseStoreCaseName, leaseStoreCases } from "./lease/lease-store-cases.ts";
export { type LeaseStoreSubject } from "./lease/lease-store-subject.ts";
export { describeOutboxStore } from "./outbox/describe-outbox-store.ts";
export { type OutboxStoreCaseName, outboxStoreCases } from "./outbox/outbox-store-cases.ts";
export { type OutboxStoreSubject, type OutboxSuiteOptions } from "./outbox/outbox-store-subject.ts";
export { type TcpProxy, tcpProxy, type TcpProxyOptions } from "./tcp-proxy.ts";
export { describeTransport } from "./transport/describe-transport.ts";
export { type TransportCaseName, transportCases } from "./transport/transport-cases.ts";
export {
  type FaultyLink,
  type PartPlace,
  type SessionPlace,
  type SourcePlace,
  type TargetPlace,
  type TransportPlace,
  type TransportSubject,
} from "./transport/transport-subject.ts";
