import { matches, overlaps, patternOf } from "./topic.ts";

/** Topics whose receivers are remembered. */
const REMEMBERED_TOPICS = 1_024;
const MAX_IDENTIFIER = 268_435_455;

/** One filter that a session subscribes to, and who asked for it. */
export interface Subscription<Receiver> {
  readonly filter: string;
  readonly pattern: string;
  /** The highest that was asked for; 2 is asked for as 1. */
  qos: 0 | 1;
  /** Comes with the messages of this subscription, where the broker can do that. */
  readonly identifier: number;
  readonly receivers: Set<Receiver>;
}

interface Match<Receiver> {
  readonly subscriptions: readonly Subscription<Receiver>[];
  /** Of all of them. */
  readonly receivers: readonly Receiver[];
}

/**
 * The subscriptions of one session, and for which receivers a message is.
 *
 * When filters of several receivers overlap, brokers differ: some send one copy, others one for each subscription. The
 * subscription identifiers of MQTT 5 say which subscriptions a copy is for; without them, each copy goes to all
 * receivers whose filters match.
 */
export class Subscriptions<Receiver> {
  readonly #byFilter = new Map<string, Subscription<Receiver>>();
  readonly #remembered = new Map<string, Match<Receiver>>();
  readonly #filters = new Set<string>();

  get filters(): ReadonlySet<string> {
    return this.#filters;
  }

  [Symbol.iterator](): Iterator<Subscription<Receiver>> {
    return this.#byFilter.values();
  }

  add(filter: string, qos: 0 | 1 | 2, receiver: Receiver): void {
    const limited = qos === 0 ? 0 : 1;
    const known = this.#byFilter.get(filter);
    if (known !== undefined) {
      known.receivers.add(receiver);
      known.qos = known.qos > limited ? known.qos : limited;
    } else {
      this.#byFilter.set(filter, {
        filter,
        pattern: patternOf(filter),
        qos: limited,
        identifier: this.#identifierFor(filter),
        receivers: new Set([receiver]),
      });
      this.#filters.add(filter);
    }
    this.#remembered.clear();
  }

  /** Whether one message may match filters of different receivers, so that its copies have to be told apart. */
  get ambiguous(): boolean {
    const all = [...this.#byFilter.values()];
    return all.some((one, index) =>
      all
        .slice(index + 1)
        .some((other) => !sameMembers(one.receivers, other.receivers) && overlaps(one.pattern, other.pattern)),
    );
  }

  /** The receivers of a message. `identifiers` are those that came with it. */
  receiversOf(topic: string, identifiers: number | readonly number[] | undefined): readonly Receiver[] {
    const match = this.#remembered.get(topic) ?? this.#remember(topic);
    if (identifiers === undefined || match.subscriptions.length < 2) return match.receivers;
    const named = match.subscriptions.filter(({ identifier }) =>
      typeof identifiers === "number" ? identifier === identifiers : identifiers.includes(identifier),
    );
    // Identifiers that nobody knows come from subscriptions of an earlier configuration.
    return named.length === 0 ? match.receivers : receiversOf(named);
  }

  #remember(topic: string): Match<Receiver> {
    const subscriptions = [...this.#byFilter.values()].filter(({ pattern }) => matches(pattern, topic));
    const match = { subscriptions, receivers: receiversOf(subscriptions) };
    if (this.#remembered.size >= REMEMBERED_TOPICS) this.#remembered.clear();
    this.#remembered.set(topic, match);
    return match;
  }

  /**
   * Made of the filter alone, so that messages which a broker has kept from before a restart or a change of the
   * configuration still name the right filter.
   */
  #identifierFor(filter: string): number {
    const taken = new Set(Array.from(this.#byFilter.values(), ({ identifier }) => identifier));
    let identifier = hash(filter);
    while (taken.has(identifier)) identifier = (identifier % MAX_IDENTIFIER) + 1;
    return identifier;
  }
}

function receiversOf<Receiver>(subscriptions: readonly Subscription<Receiver>[]): readonly Receiver[] {
  return [...new Set(subscriptions.flatMap(({ receivers }) => [...receivers]))];
}

function sameMembers(one: ReadonlySet<unknown>, other: ReadonlySet<unknown>): boolean {
  return one.size === other.size && [...one].every((member) => other.has(member));
}

/** FNV-1a, folded into the identifiers that there are. */
function hash(text: string): number {
  let value = 0x811c_9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x0100_0193) >>> 0;
  return (value % MAX_IDENTIFIER) + 1;
}
