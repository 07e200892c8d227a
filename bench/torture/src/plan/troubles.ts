import type { EndName } from "../routes.ts";
import type { Dice } from "./dice.ts";

type Range = readonly [min: number, max: number];

/** What can go wrong with one thing: how often on the average, and for how long each kind lasts, in milliseconds. */
interface Lane {
  readonly everyMs: number;
  readonly kinds: Readonly<Record<string, Range>>;
  /** How much more often than others some of them are; 1 where nothing is said. */
  readonly weights?: Readonly<Record<string, number>>;
  /** Whose troubles these are: without such an end there is nothing to break. Absent: they are the bridge's own. */
  readonly ends?: readonly EndName[];
}

const BROKER = { everyMs: 9_000, kinds: { pause: [200, 5_000], restart: [0, 1_500] } } as const satisfies Lane;
/** What these have acknowledged outlives their process, however it ends. */
const DURABLE_BROKER = { ...BROKER, kinds: { ...BROKER.kinds, kill: [0, 1_500] } } as const satisfies Lane;
/** A RabbitMQ takes several seconds to come back, and one of two cores for it. */
const SLOW_BROKER = { ...DURABLE_BROKER, weights: { pause: 6 } } as const satisfies Lane;
const LINK = {
  everyMs: 7_000,
  kinds: { cut: [0, 0], reset: [0, 0], refuse: [200, 2_500], freeze: [200, 5_000], delay: [300, 3_000] },
} as const satisfies Lane;
const DISK = { everyMs: 9_000, kinds: { full: [500, 5_000] } } as const satisfies Lane;

/**
 * Everything that goes wrong besides the kills. Each lane is one thing that has one trouble at a time; lanes know nothing
 * of each other, so that their troubles meet in every way.
 */
export const LANES = {
  source_broker: { ...BROKER, ends: ["source_mqtt"] },
  target_broker: { ...BROKER, ends: ["target_mqtt"] },
  /** One RabbitMQ is at both ends. */
  amqp_broker: { ...SLOW_BROKER, ends: ["source_amqp", "target_amqp"] },
  nats_source_broker: { ...DURABLE_BROKER, ends: ["source_nats"] },
  nats_target_broker: { ...DURABLE_BROKER, ends: ["target_nats"] },
  http_target: { ...BROKER, ends: ["target_http"] },
  /** What the HTTP target does with requests: see the target. */
  http_answers: {
    everyMs: 5_000,
    kinds: {
      unavailable: [200, 4_000],
      throttled: [200, 2_000],
      slow: [500, 3_000],
      hanging: [200, 4_000],
      kept_then_error: [200, 1_500],
      kept_then_silence: [200, 1_500],
    },
    ends: ["target_http"],
  },
  source_link: { ...LINK, ends: ["source_mqtt"] },
  target_link: { ...LINK, ends: ["target_mqtt"] },
  http_source_link: { ...LINK, ends: ["source_http"] },
  http_target_link: { ...LINK, ends: ["target_http"] },
  amqp_source_link: { ...LINK, ends: ["source_amqp"] },
  amqp_target_link: { ...LINK, ends: ["target_amqp"] },
  nats_source_link: { ...LINK, ends: ["source_nats"] },
  nats_target_link: { ...LINK, ends: ["target_nats"] },
  clock: { everyMs: 6_000, kinds: { jump: [0, 0] } },
  dlq_disk: DISK,
  outbox_disk: DISK,
} as const satisfies Readonly<Record<string, Lane>>;

export type LaneName = keyof typeof LANES;
export type KindOf<Name extends LaneName> = keyof (typeof LANES)[Name]["kinds"] & string;

export const LANE_NAMES = Object.keys(LANES) as readonly LaneName[];

/** Whether the lane means something where there are these ends. */
export function concerns(lane: LaneName, ends: ReadonlySet<EndName>): boolean {
  const { ends: own }: Lane = LANES[lane];
  return own === undefined || own.some((end) => ends.has(end));
}

/** One thing that goes wrong. */
export interface Trouble {
  readonly lane: LaneName;
  readonly kind: string;
  /** After the end of the lane's last one. */
  readonly afterMs: number;
  readonly forMs: number;
}

/** The troubles of one lane, without end; a seed gives the same ones again. */
export function* troublesOf(lane: LaneName, seed: Dice): Generator<Trouble, never, undefined> {
  const dice = seed.fork(lane);
  const { everyMs, kinds, weights = {} }: Lane = LANES[lane];
  const all = Object.entries(kinds).flatMap((kind) => Array.from({ length: weights[kind[0]] ?? 1 }, () => kind)) as [
    [string, Range],
    ...[string, Range][],
  ];
  for (;;) {
    const [kind, range] = dice.pick(all);
    // Exponential, as things that fail by themselves: most come soon, some late.
    const afterMs = Math.min(4, -Math.log(1 - dice.next())) * everyMs;
    yield { lane, kind, afterMs: Math.round(afterMs), forMs: Math.round(dice.between(range)) };
  }
}
