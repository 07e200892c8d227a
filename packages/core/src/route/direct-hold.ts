import { BridgeError, type Span } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { Lease } from "../lease/lease.ts";
import type { Term } from "../lease/term.ts";
import { sentWithContext } from "../trace/carry-context.ts";
import { expiryOf } from "./expiry.ts";
import type { Failures } from "./failures.ts";
import { FirstTurns } from "./first-turns.ts";
import { Gates } from "./gates.ts";
import type { Handover } from "./handover.ts";
import { isWanted } from "./is-wanted.ts";
import { type EndedLeg, type Outcome, summarise } from "./outcome.ts";
import type { RouteParts, Target } from "./route-parts.ts";
import { Cancelled, SendGuards } from "./send-guards.ts";
import { endSend } from "./send-outcome.ts";
import { unresolved } from "./unresolved.ts";
import type { Work } from "./work.ts";

const DELIVERED: Outcome = { disposition: "delivered", failedBindings: [] };

/**
 * Delivery mode `direct_hold`: the source's message stays unsettled until every target has accepted it or the policy
 * has been carried out.
 */
export class DirectHold implements Handover {
  readonly able = true;
  readonly leases: readonly Lease[];
  readonly #parts: RouteParts;
  readonly #failures: Failures;
  readonly #guards: SendGuards;
  readonly #gates: Gates;

  constructor(parts: RouteParts, failures: Failures) {
    this.#parts = parts;
    this.leases = [...new Set([...parts.targets.values()].flatMap(({ link }) => link?.lease ?? []))];
    this.#failures = failures;
    this.#guards = new SendGuards(parts.clock, parts.config.policy.sendTimeoutMs);
    this.#gates = new Gates(parts.processors, parts.surprises);
  }

  get acceptedAt(): number {
    return this.#guards.acceptedAt;
  }

  cancel(work: Work): void {
    this.#guards.cancel(work);
  }

  [Symbol.dispose](): void {
    this.#guards[Symbol.dispose]();
  }

  handOn(work: Work, targets: readonly Target[]): Promise<Outcome> {
    for (const target of targets) target.account.open(work.origin);
    work.targets = targets;
    const [first] = targets;
    if (first !== undefined && targets.length === 1) return this.#leg(work, first, outcomeOf);
    const turns = targets.every(({ rate }) => rate.unlimited) ? undefined : new FirstTurns(work, targets);
    return Promise.all(
      targets.map((target) =>
        this.#leg(work, target, (ended) => ended, turns).finally(() => {
          work.targets = work.targets.filter((other) => other !== target);
        }),
      ),
    ).then(summarise);
  }

  /** One leg, until the target has accepted it or the policy has been carried out; resolves with what `told` makes of it. */
  async #leg<Told>(work: Work, target: Target, told: (ended: EndedLeg) => Told, first?: FirstTurns): Promise<Told> {
    const { bindingId, link, rate, strays } = target;
    const { pause } = this.#parts.control;
    let disposition: EndedLeg["disposition"] = "abandoned";
    let attempts: ReturnType<Failures["attemptsOf"]> | undefined;
    let attempt = 0;
    // Keep the turn while waiting for a lease renewal: waiting for another turn could leave the lease too short again.
    let hasTurn = false;
    try {
      while (!work.cancelled) {
        if (link !== undefined && !link.connected) {
          // Nothing can be tried, so nothing is charged: the leg waits, and its slot with it.
          work.waited();
          await orAborted(link.whenConnected, work.signal).catch(() => {});
          continue;
        }
        if (pause.paused) {
          await work.park(pause);
          continue;
        }
        if (strays.full) {
          work.waited();
          await strays.whenRoom(`binding ${bindingId}`, this.#parts.logger, work.signal);
          continue;
        }
        if (!hasTurn && !rate.unlimited) {
          const turn = first === undefined ? rate.take(work.signal) : first.take(rate);
          first = undefined;
          if (turn !== undefined) work.waited();
          hasTurn = turn === undefined || (await turn.then(yes, no));
          // The state may have changed during the wait.
          if (work.cancelled) break;
          if (pause.paused || link?.connected === false) {
            hasTurn = false;
            continue;
          }
        }
        const short = this.#short(work.term) ?? this.#short(link?.lease?.term);
        if (short !== undefined) {
          work.waited();
          await orAborted(short.whenRenewed, work.signal).catch(() => {});
          continue;
        }
        if (this.#hasLeft(work)) {
          work.cancel();
          break;
        }
        hasTurn = false;
        attempt = attempts === undefined ? this.#failures.firstAttempt(work, bindingId) : attempts.total + 1;
        const error = expiryOf(work.envelope, this.#parts.clock) ?? (await this.#send(work, target, attempt));
        if (error === undefined) {
          disposition = "delivered";
          return told({ disposition, bindingId });
        }
        if (work.cancelled) break;
        attempts ??= this.#failures.attemptsOf(work, bindingId);
        this.#failures.charge(work, bindingId, error, attempts);
        const ended = await this.#failures.after(work, bindingId, error, attempts);
        if (ended === "again") continue;
        ({ disposition } = ended);
        return told(ended);
      }
      return told({ disposition, bindingId });
    } finally {
      // Return unused turns, so that legs that have ended do not slow down those that still wait.
      if (hasTurn) rate.giveBack();
      first?.passOver(rate);
      target.account.close(disposition);
      this.#remember(work, target, disposition, attempt);
    }
  }

  /** Whether the caller that awaited the answer left before anything was sent. */
  #hasLeft(work: Work): boolean {
    const { config, surprises } = this.#parts;
    return work.unbegun && !isWanted(work.delivery, config.receiverId, surprises);
  }

  /** Records how the leg ended, for later queries and for taps. */
  #remember(work: Work, target: Target, outcome: EndedLeg["disposition"], attempts: number): void {
    const { recent, taps, clock } = this.#parts;
    const now = outcome === "delivered" ? this.acceptedAt : clock.monotonic();
    recent.legs.add(target.recentPlace, work.received.id, outcome, now);
    if (taps.watched)
      (work.legs ??= []).push({ bindingId: target.bindingId, outcome, attempts, ms: now - work.startedAt });
  }

  /** The term, if it does not last for a send: it could be another's before the target has answered. */
  #short(term: Term | undefined): Term | undefined {
    return term?.lasts(this.#parts.config.policy.sendTimeoutMs) === false ? term : undefined;
  }

  async #send(work: Work, target: Target, attempt: number): Promise<BridgeError | undefined> {
    let address: string;
    try {
      address = target.address(work.envelope);
    } catch (thrown) {
      this.#surprised(target, work, thrown);
      return unresolved("the address", thrown);
    }
    const ended = this.#gates.admit(work.envelope, target.bindingId);
    if (typeof ended !== "function") return ended;
    const { envelope } = work;
    const { span: delivery } = work;
    let span: Span | undefined;
    try {
      if (delivery?.recorded === true) span = target.tracer?.send({ envelope, parent: delivery.context, attempt });
      target.account.attempts++;
      work.handedOut = true;
      work.sends++;
      const startedAt = work.now(this.#parts.clock);
      await this.#guards.send(target, sentWithContext(envelope, span), address, work, attempt, startedAt);
    } catch (thrown) {
      ended(thrown);
      endSend(span, thrown);
      if (!(thrown instanceof Cancelled)) this.#surprised(target, work, thrown);
      return BridgeError.from(thrown);
    }
    ended(undefined);
    endSend(span, undefined);
    target.account.endToEnd.observe(this.acceptedAt - work.startedAt);
    return undefined;
  }

  #surprised({ bindingId }: Target, { received }: Work, thrown: unknown): void {
    this.#parts.surprises.tell(`binding ${bindingId}`, thrown, { envelope_id: received.id });
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;

function outcomeOf(leg: EndedLeg): Outcome {
  return leg.disposition === "delivered" ? DELIVERED : summarise([leg]);
}
