/** Something that is to happen at a time. */
export interface TimedEvent {
  readonly at: number;
  /** Of two at one time the lower comes first. */
  readonly order: number;
  /** Absent once it is called off. */
  run: (() => void) | undefined;
}

/** Events, the earliest first. */
export class EventHeap {
  readonly #events: TimedEvent[] = [];

  get first(): TimedEvent | undefined {
    return this.#events[0];
  }

  add(event: TimedEvent): void {
    const events = this.#events;
    let index = events.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = events[parent] as TimedEvent;
      if (isBefore(above, event)) break;
      events[index] = above;
      index = parent;
    }
    events[index] = event;
  }

  removeFirst(): void {
    const events = this.#events;
    const last = events.pop();
    if (last === undefined || events.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= events.length) break;
      const right = events[child + 1];
      if (right !== undefined && isBefore(right, events[child] as TimedEvent)) child++;
      const below = events[child] as TimedEvent;
      if (isBefore(last, below)) break;
      events[index] = below;
      index = child;
    }
    events[index] = last;
  }
}

function isBefore(one: TimedEvent, other: TimedEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
