import type { Clock } from "@bridge/ports";

const TICKS_PER_KEEP_ALIVE = 4;
/** A broker hears from us within the keep alive time, and with room for an answer within half of it. */
const TICKS_PER_PING = 3;
/** Silence of one and a quarter to one and a half keep alive times, depending on where in a tick it began. */
const SILENT_TICKS = 5;

export interface HeartbeatActions {
  ping(): void;
  /** The broker has been silent for too long. */
  silent(): void;
}

/**
 * Keeps a connection alive and notices when it is not. Anything that the broker sends is a sign of life.
 *
 * The client library has a heartbeat of its own, which takes only answers to its pings for one: they come late when many
 * messages wait before them, and not at all while reading is held.
 */
export class Heartbeat implements Disposable {
  readonly #timer: Disposable;
  readonly #actions: HeartbeatActions;
  #ticks = 0;
  #silent = 0;
  #excused = false;

  constructor(clock: Clock, keepAliveMs: number, actions: HeartbeatActions) {
    this.#actions = actions;
    this.#timer = clock.every(keepAliveMs / TICKS_PER_KEEP_ALIVE, () => this.#tick());
  }

  heard(): void {
    this.#silent = 0;
  }

  /** Whether the broker cannot be heard because nothing is read from it: then silence proves nothing. */
  excuse(excused: boolean): void {
    this.#excused = excused;
    this.#silent = 0;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  // Ticks are counted, not milliseconds: after a pause of the whole process there is one tick, and then what has
  // arrived meanwhile is read.
  #tick(): void {
    if (!this.#excused && ++this.#silent > SILENT_TICKS) this.#actions.silent();
    else if (++this.#ticks % TICKS_PER_PING === 0) this.#actions.ping();
  }
}
