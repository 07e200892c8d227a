import { type Connection, silentLogger, type Session } from "@bridge/ports";
import { keepLink } from "../../src/session/keep-link.ts";
import { Link } from "../../src/session/link.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** A link that is kept connected, to a broker that has one queue: as a rule it confirms that, and does not fail. */
export function keptLink(broker: Partial<Connection> = {}, standsBy?: () => boolean) {
  const connection: Connection = {
    closed: new Promise(() => {}),
    reconcile: async () => new Set(["queue"]),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    ...broker,
  };
  const session: Session = {
    subscriptions: new Set(["queue"]),
    connect: async () => connection,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const clock = new FakeClock();
  const link = new Link({ sessionId: "s", role: "source", session });
  const stop = new AbortController();
  const seams = { clock, random: { next: () => 0.5, id: () => "" }, logger: silentLogger };
  const kept = keepLink(link, seams, stop.signal, standsBy);
  /** Ends it, and tells how many timers it leaves. */
  const ended = async (): Promise<number> => {
    stop.abort(new Error("stopped"));
    await kept;
    return clock.pending;
  };
  return { link, clock, ended };
}
