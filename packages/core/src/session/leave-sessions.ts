import type { BridgeConfig, Registry, SessionConfig } from "@bridge/config";
import { BridgeError, type Seams } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { sessionContext } from "./session-context.ts";

/** For all sessions that one change has removed. */
const LEAVE_TIMEOUT_MS = 5_000;

const REMEDY =
  "bring the session back to receive what waits, or connect once with its client id and a clean start to throw it away";

export interface LeaveOptions extends Seams {
  readonly from: BridgeConfig;
  /** In force. */
  readonly to: BridgeConfig;
  readonly instanceId: string;
  readonly registry: Registry;
}

/**
 * Has brokers end what they keep for sessions that a change has removed or given another name. What cannot be ended is
 * logged, with what to do. Never rejects.
 */
export async function leaveSessions(options: LeaveOptions, signal: AbortSignal): Promise<void> {
  using bound = deadline(
    options.clock,
    LEAVE_TIMEOUT_MS,
    new BridgeError("TIMEOUT", "the broker did not answer in time"),
  );
  const within = AbortSignal.any([signal, bound.signal]);
  await Promise.all(removedSessions(options).map((session) => leave(options, session, within)));
}

/** Those that a broker may keep something for and that nobody goes on with. */
function removedSessions({ from, to, registry }: LeaveOptions): readonly SessionConfig[] {
  const namesIn = (config: BridgeConfig, { id, transport, options }: SessionConfig): readonly string[] =>
    registry.transports
      .get(transport)
      ?.session?.identities?.(options, { id, bridgeId: config.bridge.id, role: "source" }) ?? [id];
  const names = new Set(to.sessions.flatMap((session) => namesIn(to, session)));
  const fed = new Set(from.receivers.map(({ sessionId }) => sessionId));
  return from.sessions.filter(
    (session) =>
      fed.has(session.id) &&
      session.sessionMode !== "ephemeral" &&
      registry.transports.get(session.transport)?.session?.leave !== undefined &&
      !namesIn(from, session).some((name) => names.has(name)),
  );
}

async function leave(options: LeaveOptions, session: SessionConfig, signal: AbortSignal): Promise<void> {
  const { from, registry, logger } = options;
  const fields = { session_id: session.id };
  // Another instance may be connected in this name, before it hears of the change.
  if (session.sessionMode === "exclusive") {
    logger.warn("a session is gone and the broker may keep its state, as other instances may use it", {
      ...fields,
      remedy: REMEDY,
    });
    return;
  }
  const context = sessionContext({ ...options, config: from, session, role: "source" });
  const topics = from.receivers.filter(({ sessionId }) => sessionId === session.id).flatMap((part) => part.topics);
  try {
    const leaving = registry.transports
      .get(session.transport)
      ?.session?.leave?.(session.options, { ...context, topics }, signal);
    const ended = await orAborted(leaving ?? Promise.resolve(true), signal);
    if (ended) logger.info("a session is gone, and the broker has ended what it kept for it", fields);
    else logger.warn("a session is gone, and the broker holds messages for it", { ...fields, remedy: REMEDY });
  } catch (thrown) {
    const { code, message } = BridgeError.from(thrown);
    logger.warn("a session is gone, and the broker may keep its state", {
      ...fields,
      code,
      error: message,
      remedy: REMEDY,
    });
  }
}
