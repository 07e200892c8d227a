import { type Connection, type Session, systemClock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { within } from "./within.ts";

const PAUSE_MS = 10;

/** The engine's part for a session: connects it, reconciles, and does both again after each loss. */
export interface SessionDriver extends AsyncDisposable {
  readonly session: Session;
  /** How many connections have been made and reconciled. */
  readonly connections: number;
  /** Resolves with the `count`-th connection once it is reconciled; at once when that is long ago. */
  up(count: number, signal: AbortSignal): Promise<Connection>;
}

export function driveSession(session: Session): SessionDriver {
  const controller = new AbortController();
  const ups: PromiseWithResolvers<Connection>[] = [];
  let connections = 0;
  let lastFailure: unknown = "none";

  function slot(count: number): PromiseWithResolvers<Connection> {
    return (ups[count - 1] ??= Promise.withResolvers<Connection>());
  }

  async function connectOnce(signal: AbortSignal): Promise<void> {
    await using connection = await session.connect(signal);
    await connection.reconcile(signal);
    slot(++connections).resolve(connection);
    lastFailure = (await orAborted(connection.closed, signal)) ?? lastFailure;
  }

  async function run(): Promise<void> {
    while (!controller.signal.aborted) {
      try {
        await connectOnce(controller.signal);
      } catch (error) {
        lastFailure = error;
      }
      await systemClock.delay(PAUSE_MS, controller.signal).catch(() => {});
    }
  }

  const running = run();
  return {
    session,
    get connections() {
      return connections;
    },
    async up(count, signal) {
      try {
        return await within(slot(count).promise, signal, `connection ${count} of the session`);
      } catch (error) {
        throw new Error(`${String(error)}; its last failure: ${String(lastFailure)}`, { cause: error });
      }
    },
    async [Symbol.asyncDispose]() {
      controller.abort(new Error("the session is no longer needed"));
      await running;
      await session[Symbol.asyncDispose]();
    },
  };
}
