import type { FaultyLink, TransportPlace } from "@bridge/conformance";
import { type Envelope, RESERVED, type SourceMessage, systemClock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { Dice } from "../../src/dice.ts";
import { draw } from "../../src/index.ts";
import { Broker } from "../../src/model/broker.ts";
import { Target } from "../../src/model/target.ts";
import type { BrokerHabits, Edge, Plan } from "../../src/plan/plan.ts";
import { type Sessions, simulatedPlugins } from "../../src/run/simulated-plugins.ts";
import { worldOf } from "../../src/run/world.ts";
import { type Owner, VirtualTime } from "../../src/time/virtual-time.ts";
import { Trace } from "../../src/trace.ts";
import { muteAuditor } from "./mute-auditor.ts";

/** What is held up in a frozen link comes this late, when the suite has gone on. */
const FROZEN_MS = 60_000;
const POLL_MS = 5;
/** Less than by how much timers of the platform may be early. */
const MOST_STEP_MS = 3;
/** What nobody connects to asks for nothing. */
const options = {};

/**
 * The edges of the simulation as a suite meets them that lets real time pass: their virtual time keeps pace with it. The same
 * plugins that instances have; each case has a broker and a target of its own.
 */
export class SuiteWorld {
  readonly plugins;
  readonly #habits: BrokerHabits;
  readonly #world;
  readonly #owner: Owner = { name: "suite", alive: true, pending: 0, blocked: new Map() };
  readonly #sessions: Sessions = { sources: new Set(), targets: new Set(), senders: new Set() };
  #time = new VirtualTime();
  #taken: Envelope[] = [];
  #messages: SourceMessage[] = [];

  constructor(habits: BrokerHabits) {
    this.#habits = habits;
    // Plugins read its members when a part is made, so that each case can have others.
    this.#world = { ...worldOf(draw(1), false) };
    this.plugins = simulatedPlugins(this.#world, this.#owner, this.#sessions, 0).transports;
  }

  /** A place with a new broker and a new target; `linked`: senders sit on a session. */
  place(linked: boolean): TransportPlace {
    const time = (this.#time = new VirtualTime());
    const target = { latencyMs: 1, refuses: 0, loses: 0, silent: 0, slow: 0 };
    const plan: Plan = { ...draw(1), broker: this.#habits, target, messages: [] };
    const shared = { time, auditor: muteAuditor, trace: new Trace(() => time.now, false) };
    const taken: Envelope[] = (this.#taken = []);
    const messages: SourceMessage[] = (this.#messages = []);
    const broker = new Broker({
      ...shared,
      dice: new Dice(1),
      habits: this.#habits,
      messageOf: (number) => messages[number] as SourceMessage,
    });
    const targets = new Target({ ...shared, dice: new Dice(2), plan, taken: (envelope) => taken.push(envelope) });
    Object.assign(this.#world, { ...shared, plan, broker, target: targets });
    for (const opened of Object.values(this.#sessions) as Set<unknown>[]) opened.clear();
    const ended = new AbortController();
    void keepPace(time, ended.signal);
    return {
      source: {
        session: { options },
        receiver: { options },
        publish: async (message) => broker.publish(this.#messages.push(message) - 1),
        link: this.#link("broker", (down) => (broker.down = down), [this.#sessions.sources]),
      },
      target: {
        ...(linked && { session: { options } }),
        sender: { options },
        address: "out",
        collect: (count, signal) => this.#collected(count, signal),
        link: this.#link("target", (down) => (targets.down = down ? "refuses" : undefined), [
          this.#sessions.targets,
          this.#sessions.senders,
        ]),
      },
      [Symbol.asyncDispose]: async () => {
        this.#owner.blocked?.clear();
        ended.abort(new Error("the case is over"));
      },
    };
  }

  #link(
    edge: Edge,
    refuse: (down: boolean) => void,
    connections: readonly ReadonlySet<{ cut(noticedAfterMs: number): void }>[],
  ): FaultyLink {
    const freeze = (until: number): void => {
      for (const way of [">", "<"]) this.#owner.blocked?.set(`${edge} ${way}`, until);
    };
    return {
      cut: () => {
        for (const each of connections) for (const one of each) one.cut(0);
      },
      refuse: () => {
        freeze(0);
        refuse(true);
      },
      freeze: () => freeze(this.#time.now + FROZEN_MS),
      restore: () => {
        freeze(0);
        refuse(false);
      },
    };
  }

  async #collected(count: number, signal: AbortSignal): Promise<readonly SourceMessage[]> {
    const taken = this.#taken;
    while (taken.length < count) await systemClock.delay(POLL_MS, signal);
    return taken.map(messageOf);
  }
}

/** Lets virtual time pass as the real one does, or slower: what a busy machine has missed is not made up for. */
async function keepPace(time: VirtualTime, ended: AbortSignal): Promise<void> {
  let last = systemClock.monotonic();
  while (!ended.aborted) {
    const now = systemClock.monotonic();
    await time.pass(time.now + Math.min(MOST_STEP_MS, now - last));
    last = now;
    await orAborted(systemClock.delay(1, ended), ended).catch(() => {});
  }
}

/** What another program would see of it: the model hands on what it is given, and maps no headers. */
function messageOf({ id, subject, contentType, correlationId, payload, expiresAt, headers }: Envelope): SourceMessage {
  return {
    id,
    subject,
    payload,
    contentType,
    correlationId,
    headers,
    dedupId: headers[RESERVED.dedupId],
    orderingKey: headers[RESERVED.orderingKey],
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
