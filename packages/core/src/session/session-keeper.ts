import type { BackoffPolicy } from "@bridge/config";
import { BridgeError, type Clock, type Connection, type Seams } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { backoffDelay } from "../route/backoff.ts";
import { builtPart } from "../runtime/built-part.ts";
import { discard } from "../runtime/discard.ts";
import type { Link } from "./link.ts";
import { ReconnectPause } from "./reconnect-pause.ts";
import { stopped } from "../stopped.ts";

/** The pauses after which refused subscriptions are asked for again. */
const RESUBSCRIBE: BackoffPolicy = { initialIntervalMs: 200, maxIntervalMs: 30_000, multiplier: 2, jitter: 0.3 };
/** How often it is looked whether what is read is still for another instance. */
const STAND_BY_LOOK_MS = 500;
/** Ceilings above the adapters' own bounds, so that an adapter that hangs is noticed. */
const CONNECT_CEILING_MS = 60_000;
const RECONCILE_CEILING_MS = 30_000;

/**
 * Keeps one link connected and subscribed until `signal` aborts. The only place that knows of reconnecting.
 *
 * Rejects only for a bug: everything that a broker can do to us is a failure to try again after. `standsBy`: whether what it
 * reads is for another instance, so that nothing is to be handed to this one.
 */
export async function keepSession(
  link: Link,
  seams: Seams,
  signal: AbortSignal,
  standsBy: () => boolean = () => false,
): Promise<void> {
  const logger = seams.logger.child({ session_id: link.sessionId, role: link.role });
  const pause = new ReconnectPause(() => seams.random.next());
  while (!signal.aborted && isOurs(link)) {
    let upSince: number | undefined;
    const cut = new AbortController();
    try {
      await using connection = await connect(link, seams.clock, signal);
      // To close one takes a while, in which nothing goes over it any more.
      using _ = { [Symbol.dispose]: () => link.closed() };
      link.cut = () => cut.abort(stopped());
      const alive = AbortSignal.any([signal, cut.signal]);
      upSince = seams.clock.monotonic();
      if (standsBy()) await standBy(link, connection, seams.clock, standsBy, alive);
      await subscribe(link, connection, seams.clock, alive);
      upSince = seams.clock.monotonic();
      logger.info("session connected", { subscriptions: link.subscriptionsActive });
      const cause = await stayConnected(link, connection, seams, alive);
      throw cause ?? new BridgeError("CONNECTION_LOST", `session ${link.sessionId} was closed`);
    } catch (thrown) {
      link.cut = undefined;
      if (signal.aborted) break;
      if (cut.signal.aborted) {
        link.closed();
        continue;
      }
      const error = BridgeError.from(thrown);
      link.lost(error);
      const delayMs = upSince === undefined ? pause.afterRefusal() : pause.afterLoss(seams.clock.monotonic() - upSince);
      const { failures } = pause;
      logger.warn("session not connected", { code: error.code, error: error.message, failures, retry_in_ms: delayMs });
      await seams.clock.delay(delayMs, signal).catch(() => {});
    }
  }
  link.closed();
}

/** Whoever stood still while its lease lapsed finds out before it takes the session from whoever has it by now. */
function isOurs({ lease }: Link): boolean {
  return lease === undefined || lease.term?.live === true;
}

async function connect(link: Link, clock: Clock, signal: AbortSignal): Promise<Connection> {
  using ceiling = deadline(clock, CONNECT_CEILING_MS, new BridgeError("TIMEOUT", "the attempt to connect did not end"));
  const attempt = link.session.connect(AbortSignal.any([signal, ceiling.signal]));
  let connection: Connection;
  try {
    connection = await orAborted(attempt, AbortSignal.any([signal, ceiling.signal]));
  } catch (error) {
    // A connection that comes after all must not stay open behind our back.
    discard(attempt);
    throw error;
  }
  return builtPart(connection, "connection", `connect of the session "${link.sessionId}"`);
}

/** A message that a broker handed out meanwhile would wait here, where nobody may send it. */
async function standBy(
  link: Link,
  connection: Connection,
  clock: Clock,
  standsBy: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  link.connectedToStandBy();
  while (standsBy()) {
    const wait = new AbortController();
    const look = clock.delay(STAND_BY_LOOK_MS, AbortSignal.any([signal, wait.signal]));
    const lost = await Promise.race([
      connection.closed.then((cause) => ({ cause })),
      look.then(() => undefined),
    ]).finally(() => wait.abort());
    if (lost !== undefined)
      throw lost.cause ?? new BridgeError("CONNECTION_LOST", `session ${link.sessionId} was closed`);
  }
}

async function subscribe(link: Link, connection: Connection, clock: Clock, signal: AbortSignal): Promise<void> {
  using ceiling = deadline(
    clock,
    RECONCILE_CEILING_MS,
    new BridgeError("TIMEOUT", "the broker did not acknowledge the subscriptions"),
  );
  const bound = AbortSignal.any([signal, ceiling.signal]);
  link.connectedWith(await orAborted(connection.reconcile(bound), bound));
}

/** Waits for the loss; meanwhile asks again for subscriptions that the broker refused. */
async function stayConnected(
  link: Link,
  connection: Connection,
  seams: Seams,
  signal: AbortSignal,
): Promise<BridgeError | undefined> {
  for (let tries = 1; link.subscriptionsActive < link.subscriptionsWanted; tries++) {
    const wait = new AbortController();
    const pause = seams.clock.delay(
      backoffDelay(RESUBSCRIBE, tries, () => seams.random.next()),
      AbortSignal.any([signal, wait.signal]),
    );
    const lost = await Promise.race([
      connection.closed.then((cause) => ({ cause })),
      pause.then(() => undefined),
    ]).finally(() => wait.abort());
    if (lost !== undefined) return lost.cause;
    await subscribe(link, connection, seams.clock, signal);
  }
  return orAborted(connection.closed, signal);
}
