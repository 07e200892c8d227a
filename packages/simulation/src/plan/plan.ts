import type { BridgeDocument } from "@bridge/config";
import type { ErrorCode } from "@bridge/ports";
import type { Change } from "./change.ts";
import type { Slip } from "./draw-slips.ts";
import type { LooksAt } from "./looks-at.ts";
import type { DocumentHabits, PlannedCommit } from "./planned-commit.ts";
import type { JobAsk, PlannedJob } from "./planned-job.ts";
import type { Look } from "./planned-look.ts";
import type { HookHabits, Stumble } from "./planned-program.ts";

/** That an operator puts a message into the route of an instance. */
export interface Inject {
  /** From 0. */
  readonly instance: number;
  /** It is given up after this. Default: never. */
  readonly patienceMs?: number;
}

/**
 * What a message has besides its payload: no headers or some, or beside them something odd. With what is `unnamed`, `forged` or `doubled` it
 * can be sent: keys that are empty, a header of the bridge's own, which is left out, or one name twice. The others are no message: half a character in a text or in a
 * header, a subject or headers that are too long or too many, and what is of another type.
 */
export type Dress =
  | "bare"
  | "headed"
  | "unnamed"
  | "forged"
  | "doubled"
  | "half"
  | "lost half"
  | "long"
  | "long names"
  | "half names"
  | "crowded"
  | "heavy"
  | "number"
  | "list"
  | "never";

/** A message that a source publishes or an operator injects. */
export interface PlannedMessage {
  /** 0 for the first; the payload says it. */
  readonly number: number;
  readonly at: number;
  /** The error with which every target always refuses it. Default: none. */
  readonly poison?: ErrorCode;
  /** Of several targets, those that do not take it, each with what it refuses it with always. Default: {@link poison}, all of them. */
  readonly poisons?: Readonly<Record<string, ErrorCode>>;
  /** From then on its target accepts it. Default: never. */
  readonly healsAt?: number;
  /** It comes from an operator. */
  readonly inject?: Inject;
  /** Messages with the same key keep their order. */
  readonly key?: number;
  /** Default: one of its own. Two of one id are for their source the same message, whatever is in them. */
  readonly id?: string;
  /** What its payload is: bytes that others can change, or none. Default: bytes. */
  readonly form?: "text" | "buffer" | "shared" | "resizable";
  /** What it has besides its payload. Default: a subject. */
  readonly dress?: Dress;
  /** When it may be sent no more, by clocks that are right. */
  readonly expiresAt?: number;
  /** Whether a processor filters it out. */
  readonly filtered?: true;
  /** A processor fails for it. */
  readonly stumbles?: Stumble;
}

/** How one side of an edge behaves when nothing is wrong. */
export interface Habits {
  /** The longest way, in milliseconds; each message takes part of it. */
  readonly latencyMs: number;
}

/** Of a source. */
export interface BrokerHabits extends Habits {
  readonly confirms: boolean;
  readonly releasable: boolean;
  readonly counts: boolean;
  /**
   * How long a message is lent, in milliseconds; it is handed out again unless the client extends the loan. Default: as
   * long as the connection.
   */
  readonly loanMs?: number;
  /** Whether a client that reconnects gets everything it had at once, whatever its window. */
  readonly resumes?: boolean;
  /**
   * How long after the end of a connection its client reports that its deliveries are taken back, in milliseconds.
   * Default: 0. No seed draws it.
   */
  readonly tellsAfterMs?: number;
}

/** The callers that replace a broker: each has one message, which nobody else keeps. */
export interface CallerHabits extends Habits {
  /** How long a caller waits for an answer, in milliseconds. */
  readonly patienceMs: number;
  /** How long the bridge works on a message before it tells the caller to repeat, in milliseconds. */
  readonly responseTimeoutMs: number;
  /** How often a caller repeats its request before it gives up. Default: until it is answered. */
  readonly repeats?: number;
  /** Whether repeats of a request have the same idempotency key. */
  readonly keyed: boolean;
}

/** Of a store of dead letters. */
interface DlqHabits extends Habits {
  /** It has all that such a store may have, so that jobs can live in it. */
  readonly parts?: true;
  /** What it counts by groups are estimates. */
  readonly estimates?: true;
}

/** Of an outbox. */
export interface OutboxHabits extends Habits {
  /** Whether instances share it, as a server; otherwise it is a file that one process opens. */
  readonly shared: boolean;
  readonly maxRecords: number;
}

/** Of a store of leases. */
interface LeaseHabits extends Habits {
  /** Which session one instance at a time has. Default: that of the source. */
  readonly of?: "targets";
}

/** The shares of sends that go wrong by themselves. */
export interface TargetHabits extends Habits {
  readonly refuses: number;
  readonly loses: number;
  readonly silent: number;
  readonly slow: number;
}

/** What an instance has a connection to. */
export type Edge = "broker" | "target" | "dlq" | "outbox" | "leases" | "document";

/**
 * What an edge does for an instance that does not know it yet: a source hears what is settled, a target takes a message, the DLQ
 * keeps an entry or deletes one that was delivered, the outbox enters a record or the end of one, or the document is
 * asked for the end of a trial.
 */
export type Moment = "settled" | "accepted" | "kept" | "redriven" | "persisted" | "ended" | "tried";

/** That a fault waits for the next such moment of its instance. */
interface Upon {
  readonly moment: Moment;
  readonly afterMs: number;
}

/** How long a fault waits for its moment. */
export const UPON_WITHIN_MS = 60_000;

/** Something that goes wrong, or that an operator does, for a time. */
export type Fault = {
  readonly at: number;
  readonly forMs: number;
  /** Default: it begins then. */
  readonly upon?: Upon;
  /** Whom it concerns, of several instances, from 0. Default: the first one. */
  readonly instance?: number;
} & (
  | { readonly kind: "kill" }
  | { readonly kind: "cut"; readonly noticedAfterMs: number }
  /** Of a sender that sits on a session. */
  | { readonly kind: "target-cut"; readonly noticedAfterMs: number }
  | { readonly kind: "broker-down" }
  | { readonly kind: "target-down"; readonly answers: "refuses" | "silent" | "loses" }
  | { readonly kind: "dlq-down"; readonly answers: "refuses" | "silent" | "loses" | "busy" }
  | { readonly kind: "outbox-down"; readonly answers: "refuses" | "silent" | "loses" | "torn" | "full" }
  | { readonly kind: "outbox-crash" }
  | { readonly kind: "leases-down"; readonly answers: "refuses" | "silent" | "loses" | "slow" }
  /** `machine`: its machine stands still, too, which the monotonic clock does not show. */
  | { readonly kind: "freeze"; readonly machine: boolean }
  | { readonly kind: "link"; readonly edge: Edge; readonly ways: readonly (">" | "<")[] }
  | { readonly kind: "stop" }
  /** Of the oldest dead letters, up to so many, by as many callers at once. */
  | { readonly kind: "redrive"; readonly entries: number; readonly callers: number }
  /** Of the oldest dead letters, up to so many are deleted: nobody wants them any more. */
  | { readonly kind: "discard"; readonly entries: number }
  /** Of one dead letter, the oldest but so many, by as many callers at once, each with so much patience. */
  | {
      readonly kind: "redrive-one";
      readonly nth: number;
      readonly callers: number;
      readonly patienceMs: number;
      /** What is sent in its place. Default: itself. */
      readonly edit?: "same" | "anew" | "altered" | "throws";
    }
  | { readonly kind: "delete-one"; readonly nth: number }
  /** One in `oneIn` dead letters is quarantined, and released at the end. */
  | { readonly kind: "quarantine"; readonly oneIn: number }
  /** A disk, or somebody, changes what is kept of one dead letter: from then on it cannot be read. */
  | { readonly kind: "spoil-one"; readonly nth: number }
  /** Something that cannot be is asked for, some of it of one dead letter. */
  | { readonly kind: "slip"; readonly slip: Slip; readonly nth: number }
  /** Of the oldest records of the outbox, up to so many go to the DLQ, by as many callers at once. */
  | { readonly kind: "move"; readonly records: number; readonly callers: number }
  /** Asked for by so many at once. */
  | { readonly kind: "job"; readonly job: PlannedJob; readonly callers: number }
  | { readonly kind: "job-call"; readonly ask: JobAsk; readonly callers: number }
  /** At its end the change is changed back. */
  | { readonly kind: "reload"; readonly change: Change }
  /** The same where instances follow a document. At its end the change is changed back. */
  | { readonly kind: "commit"; readonly commit: PlannedCommit }
  /** Somebody in a hurry asks again for the configuration that is wanted there by then, each time with so much patience. */
  | { readonly kind: "hurry"; readonly asks: number; readonly everyMs: number; readonly patienceMs: number }
  /** Somebody who knows nothing about the bridge rewrites the document, or restores an older one. */
  | { readonly kind: "by-hand"; readonly change?: Change; readonly older?: number }
  | { readonly kind: "document-down"; readonly answers: "refuses" | "silent" | "loses" }
  /** Of a file. */
  | { readonly kind: "document-away"; readonly how: "missing" | "unreadable" | "empty" }
  /** The process is asked to end, and another one begins afterwards. */
  | { readonly kind: "restart" }
  /** Somebody starts a second process on the same document and outbox. At the end it is asked to stop. */
  | { readonly kind: "second-process" }
  | { readonly kind: "pause" }
  | { readonly kind: "jump"; readonly ms: number }
  | Look
);

/** Everything that one seed decides before its run. */
export interface Plan {
  readonly seed: number;
  /** As an operator would write it. */
  readonly document: BridgeDocument;
  readonly bindings: readonly string[];
  readonly maxReplayAttempts: number;
  readonly drops: boolean;
  /** What has expired is dropped. Default: it goes to the DLQ. */
  readonly dropsExpired?: boolean;
  /** What is filtered out goes to the DLQ. Default: it is dropped. */
  readonly keepsFiltered?: boolean;
  /** How many messages go through each second, at the least of its limits. */
  readonly rate?: number;
  readonly messages: readonly PlannedMessage[];
  /** What needs a header of each message. Default: nothing does. */
  readonly looksAt?: LooksAt;
  readonly faults: readonly Fault[];
  readonly broker: BrokerHabits;
  /** When the messages come from callers. */
  readonly callers?: CallerHabits;
  readonly target: TargetHabits;
  readonly dlq: DlqHabits;
  /** Of routes whose mode is `shared_outbox`. */
  readonly outbox?: OutboxHabits;
  /** Of an exclusive session. */
  readonly leases?: LeaseHabits;
  /** Of a document that instances follow. Default: each has its own, which nothing keeps. */
  readonly documents?: DocumentHabits;
  /** Of functions that each instance calls. Default: there are none. */
  readonly hooks?: HookHabits;
  /** A processor lets most sends wait while their target is down. */
  readonly gated?: true;
  /** Somebody records what happens in each instance. */
  readonly recorded?: true;
  /** How many instances run at a time. Default: 1. */
  readonly instances?: number;
  /** When the last message is published and the last fault is over. */
  readonly calmAt: number;
}

/** What operators change of the document of some instance, at some time. */
export function changesOf({ faults }: Pick<Plan, "faults">): readonly Change[] {
  return faults.flatMap((fault) => {
    if (fault.kind === "reload") return [fault.change];
    if (fault.kind === "commit") return [fault.commit.change];
    return fault.kind === "by-hand" && fault.change !== undefined ? [fault.change] : [];
  });
}

/** When the last of them is over. */
export function lastEnd(faults: readonly Fault[]): number {
  return Math.max(
    0,
    ...faults.map(({ at, forMs, upon }) => at + forMs + (upon === undefined ? 0 : UPON_WITHIN_MS + upon.afterMs)),
  );
}

/** Whether nobody stood still in a way that no clock shows, so that one can tell for how long something has lasted. */
export function isMeasured({ faults }: Plan): boolean {
  return !faults.some((fault) => fault.kind === "freeze" && fault.machine);
}
