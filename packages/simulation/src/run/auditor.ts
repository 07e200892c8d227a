import { BridgeError, type DeadLetter, type Settlement } from "@bridge/ports";
import { isStructural, plannedBinding } from "../plan/change.ts";
import { changesOf, type Fault, isMeasured, type Plan } from "../plan/plan.ts";
import { isUnsound } from "../model/publication.ts";
import type { Owner } from "../time/virtual-time.ts";
import { DocumentBooks } from "./document-books.ts";
import { HeldDeliveries } from "./held-deliveries.ts";
import { JobBooks } from "./job-books.ts";

/** What one target knows of one message. */
interface AtTarget {
  accepted: number;
  /** Acceptances that no instance heard of in time: each may be followed by another one. */
  unheard: number;
  refusedForGood: number;
  /** Sends that did not end well for the engine, whatever the target made of them. */
  failed: number;
  /** Of these, what counts as an attempt. */
  charged: number;
  /** Where the outbox has it. */
  record: "pending" | "done" | "dead" | undefined;
  /** Loans that lapsed: whoever had the record may have sent it. */
  lapsed: number;
  /** How often it was entered again when the outbox had made room for others and forgotten it. */
  again: number;
  /** Redrives of it that came into the outbox. */
  replays: number;
  /** Attempts of jobs that were sent directly. */
  attempts: number;
  /** How often an operator has asked for it to be moved to the DLQ. */
  moves: number;
}

interface Known {
  readonly number: number;
  /** A processor has filtered it out. */
  filtered: boolean;
  published: boolean;
  forgotten: boolean;
  /** How often a lost connection or a dead instance gave it back. */
  handedBack: number;
  receives: number;
  readonly targets: Map<string, AtTarget>;
  /** By binding: how many there are, since a redrive that fails writes another one. */
  readonly deadLetters: Map<string, number>;
  /** The bindings whose dead letter an operator has deleted. */
  readonly discarded: Set<string>;
  /** How often a source was told that it may forget it. */
  settled: number;
  /** Its caller has given up, or was told that it is not taken. */
  givenUp: boolean;
  /** Of one that an operator injects: what came of that, as far as he was told. */
  injected: "asked" | "nothing" | "done" | "unsure" | undefined;
  /** How often an operator has asked for its delivery again. */
  redrives: number;
}

/** After these another one may go on with what it had, and remembers nothing of it. */
const ENDS_A_ROUTE: ReadonlySet<Fault["kind"]> = new Set(["kill", "stop", "reload", "commit", "by-hand", "freeze"]);

/** What the answer to an inject means. */
const INJECTED: Readonly<Record<string, Known["injected"]>> = {
  nothing: "nothing",
  failed: "unsure",
  delivered: "done",
  dead_lettered: "done",
  dropped: "done",
  pending: "done",
};

/** Changes after which a record is not found where it was. */
const ELSEWHERE = ["renamed", "bindings-renamed", "outbox-moved"] as const;

/** Keeps its own books of what is seen at the edges, and holds the engine's doings against them. It asks the engine nothing. */
export class Auditor {
  readonly violations: string[] = [];
  readonly jobs: JobBooks;
  readonly documents: DocumentBooks;
  readonly #plan: Plan;
  readonly #known: Known[];
  /** How routes are redirected while it runs. */
  readonly #changes: ReadonlySet<string>;
  /** By binding and key: what has come into the outbox, in that order. */
  readonly #queues = new Map<string, readonly number[]>();
  /** Whether one route has all of it, from the beginning to the end. */
  readonly #goesOn: boolean;
  readonly #held = new HeldDeliveries();
  readonly #sendTimeoutMs: number;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#sendTimeoutMs = millisecondsOf(plan.document.routes?.[0]?.policy?.send_timeout) ?? 0;
    this.#goesOn = !plan.faults.some(({ kind }) => ENDS_A_ROUTE.has(kind));
    this.#changes = new Set(
      changesOf(plan)
        .filter(isStructural)
        .map(({ what }) => what),
    );
    this.documents = new DocumentBooks({
      violated: (words) => this.violated(words),
      now: () => this.now(),
      stillMs: plan.faults.reduce((sum, { kind, forMs }) => sum + (kind === "freeze" ? forMs : 0), 0),
    });
    this.jobs = new JobBooks({
      violated: (words) => this.violated(words),
      now: () => this.now(),
      outbox: plan.outbox !== undefined,
      measured: isMeasured(plan),
      ttlMs: ttlOf(plan),
    });
    this.#known = plan.messages.map((_, number) => ({
      number,
      filtered: false,
      published: false,
      forgotten: false,
      handedBack: 0,
      receives: 0,
      targets: new Map(),
      deadLetters: new Map(),
      discarded: new Set(),
      givenUp: false,
      injected: undefined,
      redrives: 0,
      settled: 0,
    }));
  }

  /** Dead letters that were deleted, and those that redrives say they have redriven. */
  deletions = 0;
  redriveCount = 0;
  /** Records that ended as dead after an operator had asked for that, and those that moves say they have moved. */
  movedRecords = 0;
  moveCount = 0;
  now: () => number = () => 0;
  /** The latest time of day that any instance has shown. */
  latest: () => number = () => 0;
  /** Who has the lease. */
  holder: () => string | undefined = () => undefined;
  /** Until when the lease lasts if nobody renews it. */
  leasedUntil: () => number = () => Infinity;
  /** Whether the outbox has lent it to that instance. */
  lent: (by: Owner, number: number, binding: string) => boolean = () => true;
  /** Acceptances that an instance has heard of. */
  heard = 0;
  /** Records that the outbox has as delivered. */
  done = 0;

  violated(words: string): void {
    if (this.violations.length < 10) this.violations.push(words);
  }

  published(number: number): void {
    this.#of(number).published = true;
  }

  /** An operator puts it into a route. */
  injected(number: number): void {
    const known = this.#of(number);
    known.published = true;
    known.injected = "asked";
  }

  /** He is told what became of it: `nothing`, or `failed` when that is not known, or an outcome. */
  injectAnswered(number: number, what: string): void {
    const known = this.#of(number);
    const told = INJECTED[what];
    known.injected = told ?? "unsure";
    if (told === undefined) return this.violated(`the inject of message ${number} was answered with ${what}`);
    if (told !== "done") return;
    const open = this.#openAt(number);
    if (open.length > 0)
      this.violated(`the inject of message ${number} was answered with ${what}, without proof for ${open.join(", ")}`);
    const missed = [...known.targets].filter(([, { accepted }]) => accepted === 0).map(([binding]) => binding);
    if (what === "delivered" && (missed.length > 0 || known.targets.size < this.#plan.bindings.length))
      this.violated(
        `the inject of message ${number} was answered with delivered, and ${missed.join(", ")} has not got it`,
      );
  }

  /** A delivery of it has come to an instance, whose source takes it back when `taken` aborts. */
  delivers(to: Owner, number: number, taken: AbortSignal): void {
    this.#held.add(to, number, taken);
  }

  handedOut(number: number): void {
    this.#of(number).receives++;
  }

  isSettled(number: number): boolean {
    return this.#of(number).settled > 0;
  }

  handedBack(number: number): void {
    this.#of(number).handedBack++;
  }

  forgotten(number: number): void {
    this.#of(number).forgotten = true;
  }

  /** Its caller asks no more: nobody knows what has come of it. */
  givenUp(number: number): void {
    this.#of(number).givenUp = true;
  }

  accepts(number: number, address: string): void {
    const binding = plannedBinding(address);
    if (!this.#of(number).published) this.violated(`message ${number} was sent before it was published`);
    if (this.#at(number, binding).accepted++ > 0) return;
    this.#inOrder(number, binding);
    this.#inOrderOfOutbox(number, binding);
  }

  /** How often which target has taken which message. */
  *arrivals(): Generator<{ readonly number: number; readonly bindingId: string; readonly times: number }> {
    for (const { number, targets } of this.#known)
      for (const [bindingId, { accepted }] of targets) if (accepted > 0) yield { number, bindingId, times: accepted };
  }

  /** What sources have published, and may not forget yet. */
  *atSource(): Generator<number> {
    for (const { number, published, forgotten, injected } of this.#known)
      if (published && !forgotten && injected === undefined) yield number;
  }

  /** The instance that sent it has not heard that it was accepted. */
  unheard(number: number, binding: string): void {
    this.#at(number, binding).unheard++;
  }

  /** It has. */
  heardAfterAll(number: number, binding: string): void {
    this.#at(number, binding).unheard--;
  }

  /** Invariant 5: what is done under a lease is done by whoever has it. */
  acts(by: Owner, what: "sends" | "still sends" | "settles", number: number): void {
    const { leases, outbox } = this.#plan;
    // What operators redrive or inject is under no lease.
    const { redrives, injected } = this.#of(number);
    const leased = what === "settles" || (outbox === undefined && redrives === 0 && injected === undefined);
    if (leases === undefined || !leased) return;
    const holder = this.holder();
    if (holder !== by.name)
      this.violated(`${by.name} ${what} ${number} while ${holder === "" ? "nobody" : holder} has the lease`);
    else if (what !== "still sends") this.#lasts(by, what, number);
  }

  /** The holder's own end of a lease comes before the store's, and a send that begins is over by then. */
  #lasts(by: Owner, what: "sends" | "settles", number: number): void {
    const leftMs = this.leasedUntil() - this.now();
    const wantedMs = what === "sends" ? this.#sendTimeoutMs : 0;
    if (leftMs < wantedMs)
      this.violated(
        `${by.name} ${what} ${number} ${leftMs < 0 ? "after its lease has lapsed" : "under a lease that ends before the send may"}`,
      );
  }

  /** A send begins: not while an operator has paused the route, and not of a record that others may have by now. */
  sends(by: Owner, number: number, binding: string, envelopeId = ""): void {
    const replay = this.jobs.sends(by, envelopeId, binding);
    if (replay === undefined) this.acts(by, "sends", number);
    else if (replay !== "retry") this.#at(number, binding).attempts++;
    const { expiresAt = Infinity } = this.#plan.messages[number] ?? {};
    if (by.wall !== undefined && by.wall() > expiresAt)
      this.violated(`${by.name} sends ${number}, which has expired by its clock`);
    if (by.paused === true) this.violated(`${by.name} sends ${number} while its route is paused`);
    const { outbox } = this.#plan;
    const { redrives, injected } = this.#of(number);
    const fromSource = outbox === undefined && replay === undefined && redrives === 0 && injected === undefined;
    if (fromSource && !this.#held.has(by, number))
      this.violated(`${by.name} sends ${number}, and has no delivery of it that its source has not taken back`);
    if (outbox === undefined || this.#changes.has("mode") || !isMeasured(this.#plan)) return;
    if (!this.lent(by, number, binding))
      this.violated(`${by.name} sends ${number} to ${binding}, which the outbox has not lent to it`);
  }

  failed(number: number, binding: string, error: unknown): void {
    const at = this.#at(number, binding);
    at.failed++;
    const lasts = BridgeError.is(error) && error.class !== "transient";
    if (lasts) at.refusedForGood++;
    if (!BridgeError.is(error) || !error.charged || ++at.charged <= this.#mostAttempts(number)) return;
    if (at.attempts === 0)
      this.violated(
        `message ${number} was tried ${at.charged} times at ${binding}, where ${this.#mostAttempts(number)} have a cause`,
      );
  }

  /** A send ends that was begun under a lease: nobody else has that by now. Not asked of one who stood still meanwhile. */
  ends(by: Owner, number: number, binding: string): void {
    if (this.#at(number, binding).attempts > 0 || !isMeasured(this.#plan) || this.holder() === "") return;
    this.acts(by, "still sends", number);
  }

  /** `isNew`: it was not there yet. */
  kept({ bindingId: named, attempts, errorCode }: DeadLetter, number: number, isNew = true): void {
    const bindingId = plannedBinding(named);
    const known = this.#of(number);
    if (isNew) count(known, bindingId, 1);
    if (this.#hasExpired(known) || known.filtered || this.#isUnsound(known)) return;
    if (bindingId !== "" && (this.#mayGiveUp(known, bindingId) || this.#at(number, bindingId).moves > 0)) return;
    this.violated(
      `message ${number} was dead-lettered for ${bindingId} with ${errorCode} after ${attempts} attempts, which its target gave no cause for`,
    );
  }

  persisted(number: number, binding: string): void {
    const at = this.#at(number, binding);
    if (at.record !== undefined) {
      at.again++;
      if (this.#remembers) this.violated(`message ${number} was entered twice for ${binding} in the outbox`);
    }
    at.record = "pending";
    const key = this.#plan.messages[number]?.key;
    if (key === undefined) return;
    const place = `${binding} ${key}`;
    this.#queues.set(place, [...(this.#queues.get(place) ?? []), number]);
  }

  /** A processor filters it out. */
  filtered(number: number): void {
    this.#of(number).filtered = true;
  }

  /** An operator asks for it to be delivered again, from the DLQ. */
  redriven(number: number): void {
    this.#of(number).redrives++;
  }

  /** A redrive of it has come into the outbox. */
  replays(number: number, binding: string): void {
    this.#at(number, binding).replays++;
  }

  /** An operator asks for it to be moved from the outbox to the DLQ. */
  moves(number: number, binding: string): void {
    this.#at(number, binding).moves++;
  }

  /** An operator has deleted its dead letter. */
  discarded(number: number, binding: string): void {
    const known = this.#of(number);
    const { discarded, redrives } = known;
    count(known, binding, -1);
    // Where another instance delivers what is redriven, nobody can tell who has deleted the entry.
    if (redrives > 0 && this.#plan.outbox?.shared === true) this.deletions++;
    discarded.add(plannedBinding(binding));
  }

  /** Its dead letter is back: a purge was undone. */
  takenBack(number: number, binding: string): void {
    count(this.#of(number), binding, 1);
  }

  /** Its dead letter is gone. A redrive deletes what has been delivered. */
  deleted(number: number, binding: string): void {
    const known = this.#of(number);
    count(known, binding, -1);
    this.deletions++;
    // One without a binding is for all of them.
    const wanted = binding === "" ? this.#plan.bindings : [plannedBinding(binding)];
    if (wanted.some((id) => (known.targets.get(id)?.accepted ?? 0) === 0))
      this.violated(`the dead letter of message ${number} for ${binding} was deleted, and its target has not got it`);
  }

  /** The outbox gives it to somebody else, because whoever had it has not said what became of it. */
  lapsed(number: number, binding: string): void {
    this.#at(number, binding).lapsed++;
  }

  /** The outbox is told that it is over. */
  ended(number: number, bindingId: string, how: "done" | "dead", replay: boolean): void {
    const binding = plannedBinding(bindingId);
    const known = this.#of(number);
    const at = this.#at(number, binding);
    if (!replay) at.record = how;
    if (how === "done") this.done++;
    else if (at.moves > 0) this.movedRecords++;
    const proven = how === "done" ? at.accepted > 0 : isKept(known, binding) || this.#mayBeDropped(known, binding);
    if (!proven) this.violated(`message ${number} was entered as ${how} for ${binding} in the outbox without proof`);
  }

  /** The engine tells the source. Invariant 6: once, and after the proof. */
  settles(number: number, settlement: Settlement, again: boolean): void {
    if (again) this.violated(`a delivery of message ${number} was settled twice`);
    if (settlement.kind === "refuse" && this.#plan.callers === undefined)
      this.violated(`message ${number} was refused to a source that cannot be told`);
    if (settlement.kind !== "accept") return;
    this.#of(number).settled++;
    const open = this.#openAt(number);
    if (open.length > 0)
      this.violated(`message ${number} was settled as ${settlement.outcome} without proof for ${open.join(", ")}`);
  }

  /** Invariants 2 and 3, when all is at rest. */
  close(): void {
    this.jobs.close();
    if (this.moveCount > this.movedRecords)
      this.violated(`${this.moveCount} records were told to be moved to the DLQ, and ${this.movedRecords} were`);
    if (this.redriveCount > this.deletions)
      this.violated(`${this.redriveCount} dead letters were told to be redriven, and ${this.deletions} were deleted`);
    for (const [number, known] of this.#known.entries()) {
      if (!known.published) continue;
      const isPromised = !known.givenUp && (known.injected === undefined || known.injected === "done");
      const open = isPromised ? this.#openAt(number) : [];
      if (known.injected === "nothing") this.#isNowhere(number, known);
      if (open.length > 0)
        this.violated(`message ${number} is lost: it is neither at ${open.join(", ")} nor in the DLQ nor dropped`);
      if (!known.forgotten && !known.givenUp && known.injected === undefined)
        this.violated(`message ${number} is still at its source when all is at rest`);
      for (const [binding, { accepted, unheard, lapsed, again, replays, attempts, record }] of known.targets) {
        const direct = known.handedBack + known.redrives + attempts;
        const stored = lapsed + again + replays;
        const { outbox } = this.#plan;
        const repeats = outbox === undefined ? direct : this.#changes.size > 0 ? direct + stored : stored;
        const bound = 1 + unheard + repeats;
        if (record === "pending") this.violated(`message ${number} is still in the outbox when all is at rest`);
        if (accepted > bound)
          this.violated(`message ${number} came ${accepted} times to ${binding}, where ${bound} would have a cause`);
      }
    }
  }

  /** What an operator was told has come to nothing is nowhere. */
  #isNowhere(number: number, { targets, deadLetters }: Known): void {
    for (const [binding, { accepted, record }] of targets)
      if (accepted > 0 || record !== undefined)
        this.violated(`the inject of message ${number} was answered with nothing, and ${binding} has got it`);
    if (deadLetters.size > 0)
      this.violated(`the inject of message ${number} was answered with nothing, and it is in the DLQ`);
  }

  /** Whether what a source hands out again is known from the first time. */
  get #remembers(): boolean {
    const { outbox, callers, messages, bindings } = this.#plan;
    // Without a key each request is another message.
    if (callers?.keyed === false) return false;
    // Under another name, or in another store, it is another record.
    if (ELSEWHERE.some((what) => this.#changes.has(what))) return false;
    return outbox !== undefined && outbox.maxRecords >= messages.length * bindings.length;
  }

  /** Invariant 4: of one key, first acceptances come in the order of the source, but for what is given up. */
  #inOrder(number: number, binding: string): void {
    const { messages, instances = 1, leases, broker, callers } = this.#plan;
    // Who repeats a request comes after those who have not had to.
    if (callers !== undefined) return;
    const key = messages[number]?.key;
    // What the outbox has of a route waits when a process has begun with another document.
    if (this.#changes.size > 0 && this.#plan.outbox !== undefined) return;
    // Instances that share a queue get each its part of a key.
    if (key === undefined || (instances > 1 && leases === undefined)) return;
    // Younger ones are handed out while an older one is still lent to nobody who is there.
    if (broker.loanMs !== undefined) return;
    for (let older = number - 1; older >= 0; older--) {
      const before = this.#known[older];
      if (messages[older]?.key !== key || before?.published !== true) continue;
      if ((before.targets.get(binding)?.accepted ?? 0) > 0) return;
      const givenUp = isKept(before, binding) || this.#mayBeDropped(before, binding);
      if (!givenUp) this.violated(`message ${number} came to ${binding} before ${older}, which has the same key`);
      return;
    }
  }

  /** Of one key, whoever drains an outbox sends nothing while an older record has not ended. */
  #inOrderOfOutbox(number: number, binding: string): void {
    const key = this.#plan.messages[number]?.key;
    const queue = this.#queues.get(`${binding} ${key}`) ?? [];
    if (this.#changes.size > 0 || !isMeasured(this.#plan)) return;
    for (const older of queue.slice(0, Math.max(0, queue.indexOf(number)))) {
      const before = this.#at(older, binding);
      if (before.record === "pending" && before.accepted === 0)
        this.violated(
          `message ${number} came to ${binding} before ${older}, which is before it in the outbox and has the same key`,
        );
    }
  }

  /** The bindings for which a message is in no safe place. */
  #openAt(number: number): readonly string[] {
    const known = this.#of(number);
    return this.#plan.bindings.filter((binding) => {
      const at = known.targets.get(binding);
      if ((at?.accepted ?? 0) > 0 || at?.record !== undefined || isKept(known, binding)) return false;
      return !this.#mayBeDropped(known, binding);
    });
  }

  /**
   * How often it may be tried at one target, where one process has all of it: what the cap allows, each time that its source was
   * told, and one more for each time that it was taken back before that could be noted.
   */
  #mostAttempts(number: number): number {
    const { outbox, leases, instances = 1, broker, messages, maxReplayAttempts } = this.#plan;
    const { settled, handedBack, redrives, injected } = this.#of(number);
    const own =
      this.#plan.callers === undefined &&
      messages[number]?.id === undefined &&
      redrives === 0 &&
      injected === undefined;
    const counted = outbox === undefined && leases === undefined && instances === 1 && !broker.counts;
    if (!own || !counted || !this.#goesOn) return Infinity;
    return maxReplayAttempts * (1 + settled) + handedBack;
  }

  #hasExpired({ number }: Known): boolean {
    return (this.#plan.messages[number]?.expiresAt ?? Infinity) < this.latest();
  }

  #isUnsound({ number }: Known): boolean {
    const message = this.#plan.messages[number];
    return message !== undefined && isUnsound(message);
  }

  /** Others that have its id: what one of them counts as attempts counts for all, and the outbox takes the first only. */
  #twins({ number }: Known): readonly Known[] {
    const id = this.#plan.messages[number]?.id;
    if (id === undefined) return [];
    return this.#known.filter((other) => other.number !== number && this.#plan.messages[other.number]?.id === id);
  }

  /** Whether the policy drops it, for a reason that it has. */
  #mayBeDropped(known: Known, binding: string): boolean {
    const { drops, dropsExpired = false, keepsFiltered = false } = this.#plan;
    if (drops && (this.#isUnsound(known) || this.#mayGiveUp(known, binding))) return true;
    return (dropsExpired && this.#hasExpired(known)) || (!keepsFiltered && known.filtered);
  }

  /** Whether the policy allows it: a target that refuses for good, or as many attempts as are configured. */
  #mayGiveUp(known: Known, binding: string): boolean {
    const twins = this.#twins(known);
    if (this.#plan.outbox !== undefined && twins.some(({ published }) => published)) return true;
    const at = known.targets.get(binding);
    if (at === undefined) return false;
    if (at.refusedForGood > 0) return true;
    const direct = this.#plan.outbox === undefined || this.#changes.has("mode");
    const before = this.#plan.broker.counts && direct ? Math.max(0, known.receives - 1) : 0;
    let theirs = 0;
    for (const twin of twins) if (!twin.forgotten) theirs += twin.targets.get(binding)?.failed ?? 0;
    return at.failed > 0 && at.failed + before + theirs >= this.#plan.maxReplayAttempts;
  }

  #of(number: number): Known {
    const known = this.#known[number];
    if (known === undefined) throw new Error(`there is no message ${number}`);
    return known;
  }

  #at(number: number, named: string): AtTarget {
    const binding = plannedBinding(named);
    const { targets } = this.#of(number);
    const at = targets.get(binding) ?? {
      accepted: 0,
      unheard: 0,
      refusedForGood: 0,
      failed: 0,
      charged: 0,
      record: undefined,
      lapsed: 0,
      replays: 0,
      attempts: 0,
      moves: 0,
      again: 0,
    };
    targets.set(binding, at);
    return at;
  }
}

function count({ deadLetters }: Known, named: string, more: 1 | -1): void {
  const binding = plannedBinding(named);
  const now = (deadLetters.get(binding) ?? 0) + more;
  if (now > 0) deadLetters.set(binding, now);
  else deadLetters.delete(binding);
}

/** Whether the DLQ has it, or had it when an operator deleted that: for this binding, or for all of them. */
function isKept({ deadLetters, discarded }: Known, binding: string): boolean {
  return [binding, ""].some((id) => deadLetters.has(id) || discarded.has(id));
}

const DEFAULT_TTL_MS = 30_000;

function ttlOf({ document }: Plan): number {
  return millisecondsOf(document.bridge?.lease_ttl) ?? DEFAULT_TTL_MS;
}

function millisecondsOf(duration: string | undefined): number | undefined {
  const digits = /^(\d+)ms$/.exec(duration ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}
