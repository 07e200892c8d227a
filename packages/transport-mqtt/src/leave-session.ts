import { BridgeError, type LeftSessionContext, systemClock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { type BrokerUrl, parseBrokerUrl } from "./broker-url.ts";
import { forgetFilters, keptFilters } from "./kept-filters.ts";
import { clientOptions } from "./link-options.ts";
import type { SessionOptions } from "./options.ts";
import { FILTERS_PER_PACKET } from "./source-connection.ts";
import { Wire } from "./wire.ts";

/**
 * Ends what each broker keeps for a session that no configuration has any more, unless it holds messages: then the
 * subscriptions are given up, so that no more of them come, and they stay. Resolves with whether it is ended everywhere.
 */
export async function leaveSession(
  options: SessionOptions,
  context: LeftSessionContext,
  signal: AbortSignal,
): Promise<boolean> {
  const filters = keptFilters(options, context).union(new Set(context.topics.map(({ topic }) => topic)));
  forgetFilters(options, context);
  let ended = true;
  for (const broker of options.broker_urls.map(parseBrokerUrl)) {
    const held = await messagesHeld(options, context, broker, [...filters], signal);
    if (held) ended = false;
    else await beginClean(options, context, broker, signal);
  }
  return ended;
}

/** A broker hands out what it holds as soon as it is connected to, so before it answers anything else. */
async function messagesHeld(
  options: SessionOptions,
  context: LeftSessionContext,
  broker: BrokerUrl,
  filters: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  let held = false;
  const published = (): void => void (held = true);
  await connected(options, context, broker, { clean: false, published }, signal, async (wire) => {
    for (let from = 0; from < filters.length; from += FILTERS_PER_PACKET)
      await wire.unsubscribe(filters.slice(from, from + FILTERS_PER_PACKET));
  });
  return held;
}

/** A session that begins anew and is not to be kept takes the place of the former one, and ends with its connection. */
function beginClean(
  options: SessionOptions,
  context: LeftSessionContext,
  broker: BrokerUrl,
  signal: AbortSignal,
): Promise<void> {
  return connected(options, context, broker, { clean: true, published: () => {} }, signal, async () => {});
}

async function connected(
  options: SessionOptions,
  context: LeftSessionContext,
  broker: BrokerUrl,
  { clean, published }: { readonly clean: boolean; readonly published: () => void },
  signal: AbortSignal,
  work: (wire: Wire) => Promise<void>,
): Promise<void> {
  const { connect_timeout: timeoutMs, max_message_bytes: maxMessageBytes } = options;
  using bound = deadline(
    systemClock,
    timeoutMs,
    new BridgeError("TIMEOUT", `${broker.label} has not answered in ${timeoutMs} ms`),
  );
  const attempt = AbortSignal.any([signal, bound.signal]);
  attempt.throwIfAborted();
  const handlers = {
    published({ qos }: { readonly qos: number }) {
      if (qos > 0) published();
      return true;
    },
    acknowledged() {},
    gone() {},
  };
  // Nobody has died.
  const client = await clientOptions({ ...options, will: undefined }, { ...context, ...(clean && EPHEMERAL) }, broker);
  const wire = new Wire({ client, label: broker.label, maxMessageBytes }, context.clock, handlers);
  const lost = (): void => wire.lose(BridgeError.from(attempt.reason));
  attempt.addEventListener("abort", lost, { once: true });
  try {
    await wire.opened(attempt);
    await orAborted(work(wire), attempt);
  } finally {
    attempt.removeEventListener("abort", lost);
    await wire.close();
  }
}

const EPHEMERAL = { sessionMode: "ephemeral" } as const;
