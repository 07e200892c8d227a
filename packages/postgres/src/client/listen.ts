import { type Clock, type Random } from "@bridge/ports";
import { orAborted, LinkedAbort, retryDelay } from "@bridge/ports/internal";
import { Client, escapeIdentifier } from "pg";
import type { Server } from "./client-config.ts";

export interface HearingOptions {
  /** Somebody has notified the channel. */
  onNotified(payload: string): void;
  /** The channel is heard from now on, for the first time or again: what was said before was not heard, so look. */
  onHearing?(): void;
}

/** Ends when it is disposed. */
export interface Hearing extends Disposable {
  /** Whether the channel is heard at the moment. */
  readonly hears: boolean;
}

/** A connection that is silent for so long is asked whether it is there. */
const BEAT_MS = 10_000;
const ANSWER_MS = 5_000;

/** Hears a channel until it is disposed or `over` aborts; connects again whenever the connection is lost. */
export function listen(
  channel: string,
  server: Server,
  seams: { readonly clock: Clock; readonly random: Random },
  options: HearingOptions,
  over: AbortSignal,
): Hearing {
  const end = new LinkedAbort(over);
  const hearing = {
    hears: false,
    [Symbol.dispose](): void {
      end.abort(new Error("disposed"));
      end[Symbol.dispose]();
    },
  };
  void hearUntil(end.signal);
  return hearing;

  async function hearUntil(ended: AbortSignal): Promise<void> {
    for (let tries = 1; !ended.aborted; tries++) {
      try {
        await hear(ended, () => (tries = 0));
      } catch {
        // Whoever needs to know sees that it is not heard; statements tell what is wrong with the server.
      }
      hearing.hears = false;
      await seams.clock.delay(retryDelay(tries + 1, seams.random), ended).catch(() => {});
    }
  }

  async function hear(ended: AbortSignal, onHeard: () => void): Promise<void> {
    const client = new Client(await server.config());
    using lost = new LinkedAbort(ended);
    const lose = (): void => lost.abort(new Error("the connection is lost"));
    client.on("error", lose);
    client.on("end", lose);
    client.on("notification", ({ payload = "" }) => ended.aborted || options.onNotified(payload));
    try {
      await inTime(client.connect(), ended);
      await inTime(client.query(`LISTEN ${escapeIdentifier(channel)}`), ended);
      onHeard();
      hearing.hears = true;
      options.onHearing?.();
      for (;;) {
        await seams.clock.delay(BEAT_MS, lost.signal);
        await inTime(client.query("SELECT 1"), ended);
      }
    } finally {
      client.connection.stream.destroy();
    }
  }

  async function inTime<T>(promise: Promise<T>, ended: AbortSignal): Promise<T> {
    using limit = new LinkedAbort(ended);
    const timer = new AbortController();
    seams.clock.delay(ANSWER_MS, timer.signal).then(
      () => limit.abort(new Error("no answer")),
      () => {},
    );
    try {
      return await orAborted(promise, limit.signal);
    } finally {
      timer.abort();
    }
  }
}
