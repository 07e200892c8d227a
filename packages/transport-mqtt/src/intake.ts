export interface IntakeLimits {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * Bounds what waits between a session and its receivers. Windows alone do not: a broker may overshoot the one it was
 * told, MQTT 3.1.1 has none, and QoS 0 is under none.
 *
 * When it is full nothing more is read from the broker, until half of it is free again.
 */
export class Intake {
  readonly #limits: IntakeLimits;
  readonly #onRoom: () => void;
  #messages = 0;
  #bytes = 0;
  #full = false;
  #pauses = 0;

  constructor(limits: IntakeLimits, onRoom: () => void) {
    this.#limits = limits;
    this.#onRoom = onRoom;
  }

  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How often it has been full. */
  get pauses(): number {
    return this.#pauses;
  }

  get full(): boolean {
    return this.#full;
  }

  add(bytes: number): void {
    this.#messages++;
    this.#bytes += bytes;
    if (this.#full || (this.#messages < this.#limits.messages && this.#bytes < this.#limits.bytes)) return;
    this.#full = true;
    this.#pauses++;
  }

  remove(bytes: number): void {
    this.#messages--;
    this.#bytes -= bytes;
    if (!this.#full || this.#messages * 2 > this.#limits.messages || this.#bytes * 2 > this.#limits.bytes) return;
    this.#full = false;
    this.#onRoom();
  }
}
