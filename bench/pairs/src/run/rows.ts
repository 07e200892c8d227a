import { PAIRS, type PairName } from "../pair.ts";
import { type Contender, type Mode, type Peer, PEER_PAIRS } from "./contender.ts";
import type { Row } from "./row.ts";

const ROUND_TRIP_MS = 20;
const DELAYED_SIZE = 256;
/** What the wide window is held against, and the wide one. */
const DELAYED_WINDOWS = [1, 256] as const;

/** What a user of the command chooses; what is absent is the default of {@link rows}. */
export interface Selection {
  readonly pairs: readonly PairName[] | undefined;
  readonly sizes: readonly number[] | undefined;
  readonly windows: readonly number[] | undefined;
  readonly modes: readonly Mode[] | undefined;
  readonly peers: readonly Peer[];
  /** Rows with a slow link to the source: of all pairs, of none, or of those that are measured by default. */
  readonly delay: "all" | "none" | undefined;
  /** Everything is measured, wherever nothing is chosen. */
  readonly all: boolean;
}

/** A choice that shows the most in some minutes. */
const DEFAULTS = { sizes: [256], windows: [100] } as const;
const ALL = { sizes: [256, 4_096], windows: [1, 100, 500] } as const;
/** The pairs of which an outbox has a bar. */
const OUTBOX_PAIRS: ReadonlySet<PairName> = new Set(["mqtt-amqp", "amqp-amqp"]);
const DELAYED_PAIRS: ReadonlySet<PairName> = new Set(["mqtt-mqtt"]);

/** What is measured, in this order. */
export function rows(selection: Selection): readonly Row[] {
  const { sizes, windows } = { ...(selection.all ? ALL : DEFAULTS), ...defined(selection) };
  const pairs = PAIRS.filter((pair) => selection.pairs?.includes(pair) ?? true);
  const plain = pairs.flatMap((pair) =>
    sizes.flatMap((size) =>
      windows.map((window) => ({ pair, size, window, delayMs: 0, contenders: contendersOf(pair, selection) })),
    ),
  );
  const delayed = pairs
    .filter((pair) => isDelayed(pair, selection))
    .flatMap((pair) =>
      DELAYED_WINDOWS.map((window): Row => ({
        pair,
        size: DELAYED_SIZE,
        window,
        delayMs: ROUND_TRIP_MS,
        contenders: ["script", "direct_hold"],
      })),
    );
  return [...plain, ...delayed];
}

function contendersOf(pair: PairName, { modes, peers, all, pairs }: Selection): readonly Contender[] {
  const chosen = modes ?? ["direct_hold", "shared_outbox"];
  // Chosen or complete, every pair has its outbox measured.
  const withOutbox = modes !== undefined || pairs !== undefined || all || OUTBOX_PAIRS.has(pair);
  const own = chosen.filter((mode) => mode === "direct_hold" || withOutbox);
  return ["script", ...own, ...peers.filter((peer) => PEER_PAIRS[peer] === pair)];
}

function isDelayed(pair: PairName, { delay, all }: Selection): boolean {
  if (delay !== undefined) return delay === "all";
  return all || DELAYED_PAIRS.has(pair);
}

function defined({ sizes, windows }: Selection): Partial<Record<"sizes" | "windows", readonly number[]>> {
  return { ...(sizes !== undefined && { sizes }), ...(windows !== undefined && { windows }) };
}
