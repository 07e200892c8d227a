/** What is carried from and to. */
const KINDS = ["mqtt", "amqp", "nats", "http"] as const;
export type Kind = (typeof KINDS)[number];

export interface Pair {
  readonly from: Kind;
  readonly to: Kind;
}

export type PairName = `${Kind}-${Kind}`;

/** Every ordered pair, those of one kind too. */
export const PAIRS: readonly PairName[] = KINDS.flatMap((from) => KINDS.map((to): PairName => `${from}-${to}`));

export function pairOf(name: PairName): Pair {
  const [from, to] = name.split("-") as [Kind, Kind];
  return { from, to };
}
