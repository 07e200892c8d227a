import { isStructural, plannedBinding } from "../../plan/change.ts";
import { changesOf, type Plan } from "../../plan/plan.ts";
import type { Owner } from "../../time/virtual-time.ts";
import { AttemptsById } from "./attempts-by-id.ts";

/** What one target knows about one message. */
export interface AtTarget {
  accepted: number;
  /** Acceptances that no instance heard of in time: each may lead to another one. */
  unheard: number;
  refusedForGood: number;
  /** Sends that failed from the engine's view, whatever the target made of them. */
  failed: number;
  /** The failed sends that count as attempts: per process, or for all of them if the outbox has the message. */
  readonly charged: Map<Owner | undefined, number>;
  /** Where the outbox has it. */
  record: "pending" | "done" | "dead" | undefined;
  /** Its dead letter was deleted, as a redrive of it had been delivered. */
  redriven: boolean;
  /** Loans that lapsed: their holder may have sent the record. */
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

/** What the edges know about one message. */
export interface Known {
  readonly number: number;
  /** A processor has filtered it out. */
  filtered: boolean;
  /** How often a processor has failed for it, and whether for good. */
  stumbled: number;
  refusedByProcessor: boolean;
  /** A processor that fails for it at times has let it through. */
  passed: boolean;
  published: boolean;
  forgotten: boolean;
  /** How often a lost connection or a dead instance returned it to the source. */
  handedBack: number;
  receives: number;
  readonly targets: Map<string, AtTarget>;
  /** By binding: how many there are, since a redrive that fails writes another one. */
  readonly deadLetters: Map<string, number>;
  /** The bindings whose dead letter an operator has deleted. */
  readonly discarded: Set<string>;
  /** How often a source was told that it may forget the message. */
  settled: number;
  /** The bindings for which the policy might drop it when that was told last. */
  dropped: ReadonlySet<string>;
  /** Whether its caller has given up, or was told that it is not accepted. */
  givenUp: boolean;
  /** Of one that an operator injects: what came of that, as far as he was told. */
  injected: "asked" | "nothing" | "done" | "unsure" | undefined;
  /** How often an operator asked for a redrive. */
  redrives: number;
}

/** Shared by all books of a run: every message, and the violations. */
export class Ledger {
  readonly plan: Plan;
  readonly violations: string[] = [];
  /** How routes are redirected while it runs. */
  readonly changes: ReadonlySet<string>;
  readonly known: readonly Known[];
  readonly attemptsById: AttemptsById;
  now: () => number = () => 0;
  /** The latest time of day that any instance has shown. */
  latest: () => number = () => 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.changes = new Set(
      changesOf(plan)
        .filter(isStructural)
        .map(({ what }) => what),
    );
    this.attemptsById = new AttemptsById((number) => plan.messages[number]?.id);
    this.known = plan.messages.map((_, number) => unknown(number));
  }

  violated(words: string): void {
    if (this.violations.length < 10) this.violations.push(words);
  }

  of(number: number): Known {
    const known = this.known[number];
    if (known === undefined) throw new Error(`there is no message ${number}`);
    return known;
  }

  at(number: number, named: string): AtTarget {
    const binding = plannedBinding(named);
    const { targets } = this.of(number);
    const at = targets.get(binding) ?? untouched();
    targets.set(binding, at);
    return at;
  }
}

/** Whether the DLQ holds it, or held it until an operator deleted it: for this binding, or for all of them. */
export function isKept({ deadLetters, discarded }: Known, binding: string): boolean {
  return [binding, ""].some((id) => deadLetters.has(id) || discarded.has(id));
}

function unknown(number: number): Known {
  return {
    number,
    filtered: false,
    stumbled: 0,
    refusedByProcessor: false,
    passed: false,
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
    dropped: new Set(),
  };
}

function untouched(): AtTarget {
  return {
    accepted: 0,
    unheard: 0,
    refusedForGood: 0,
    failed: 0,
    charged: new Map(),
    record: undefined,
    redriven: false,
    lapsed: 0,
    replays: 0,
    attempts: 0,
    moves: 0,
    again: 0,
  };
}
