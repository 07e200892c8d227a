/** What the packages of this bridge share among themselves. Not part of what versions promise. @module */
export { Bag, type Placed } from "./bag.ts";
export { CallLimit, type CallSize } from "./call-limit.ts";
export { deadline, type Deadline, orAborted, patientDeadline } from "./async.ts";
export { boundCredentials } from "./credentials-in-time.ts";
export { NoCredentialsError } from "./credentials-requests.ts";
export { Serial } from "./serial.ts";
export { SequenceMap } from "./sequence-map.ts";
export { SignalPool } from "./signal-pool.ts";
export { byVersion, replacedEntry, withEntry } from "./config/history-entries.ts";
export { jsonConfigTexts } from "./config/json-config-texts.ts";
export { Base64Text } from "./base64-text.ts";
export { jsonInSlices, jsonLinesInSlices } from "./json-in-slices.ts";
export { textInSlices } from "./text-in-slices.ts";
export { isThenable, unheard } from "./thenable.ts";
export { isBesideFile } from "./file-place.ts";
export { readSmallFile, readSmallFileSync } from "./small-file.ts";
export { startThread } from "./start-thread.ts";
export { threadProgram, type ThreadProgram } from "./thread-program.ts";
export { repeatedKey } from "./repeated-key.ts";
export { joined, recordedText, type Said, type Sent, toldText } from "./said.ts";
export { answerTurns, atOnce, mapped, sharedTurns, Slices, type Steps, Turns } from "./turns.ts";
export { withoutOuterBlanks } from "./outer-blanks.ts";
export { ownBytes, ownCopy, payloadBytes } from "./own-copy.ts";
export { fingerprintOf } from "./fingerprint.ts";
export { type FacetCell, type FacetLine, FacetTally, oneAt } from "./dlq/facet-tally.ts";
export { histogramOf, histogramStep } from "./dlq/facet-histogram.ts";
export { batchTime } from "./dlq/batch-time.ts";
export { isStillListed } from "./dlq/is-still-listed.ts";
export { sealJob, unsealJob } from "./dlq/job-seal.ts";
export { matchesQuery } from "./dlq/matches-query.ts";
export { marksIn, packMarks } from "./dlq/packed-marks.ts";
export { demandPage } from "./dlq/demand-page.ts";
export { PageOfHeads } from "./dlq/page-of-heads.ts";
export { RecentFacets } from "./dlq/recent-facets.ts";
export {
  headOrKnown,
  idIn,
  isSpoiled,
  packDeadLetter,
  type PackedDeadLetter,
  SpoiledDeadLetter,
  unpackDeadLetter,
} from "./packed-dead-letter.ts";
export { isPermission, type Permission, PERMISSIONS } from "./permissions.ts";
export { isRole, type Role, ROLES } from "./roles.ts";
export { formatTimestamp } from "./timestamp.ts";
export { kindOf } from "./kind-of.ts";
export { printable, printableLines } from "./printable.ts";
export { knownAcrossCopies } from "./known-across-copies.ts";
export { givenOptions, moreOptions } from "./given-options.ts";
export { onlyKnown } from "./only-known.ts";
export { MESSAGE_MEMBERS } from "./message-members.ts";
export { nearestWord, suggestion } from "./suggestion.ts";
export { steadyLogger } from "./steady-logger.ts";
export { SpoiledEntries } from "./spoiled-entries.ts";
export { envelopeIdIn, packEnvelope, unpackEnvelope } from "./packed-envelope.ts";
export { FaultWatch, type Trial } from "./store/fault-watch.ts";
export { LinkedAbort } from "./store/linked-abort.ts";
export { recordIdentity } from "./store/record-identity.ts";
export { type PackedContent, recordSeal, spoiledRecord } from "./store/record-seal.ts";
export { retryDelay } from "./store/retry-delay.ts";
export { Slots } from "./store/slots.ts";
export { sweepEvery } from "./store/sweep.ts";
export { clientTlsSchema, readClientTls, type ClientIdentity, type ClientTls } from "./broker/client-tls.ts";
export { Inbox } from "./broker/inbox.ts";
export { maxMessageBytes, messageTooLarge } from "./broker/message-limit.ts";
export { networkError } from "./broker/network-error.ts";
export { watchReading } from "./broker/read-watch.ts";
export { ServersInTurn } from "./broker/servers-in-turn.ts";
export { TurnWrites } from "./broker/turn-writes.ts";
export { GREETING_BYTES, strangerError } from "./broker/stranger.ts";
export { splitUrl, splitUrls, type SplitUrl } from "./broker/url-credentials.ts";
