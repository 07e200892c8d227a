import type { OutboxFilter } from "@bridge/ports";
import { Lane } from "./lane.ts";
import type { ReadingStatements } from "./reading-statements.ts";

/** The lanes of a file, by route and binding. There are as many as there have ever been bindings of routes. */
export class Lanes {
  readonly #byRoute = new Map<string, Map<string, Lane>>();
  readonly #byNumber = new Map<number, Lane>();
  /** Those in the file may have gaps: the first record of a lane may have failed, and that of the next one not. */
  #highest = 0;

  get size(): number {
    return this.#byNumber.size;
  }

  /** Takes everything from the file, as it is now. False when it has records of a lane that is not in it. */
  reload(statements: ReadingStatements): boolean {
    const depths = new Map(statements.depths().map(({ lane, depth }) => [lane, depth]));
    const stored = new Set<number>();
    for (const { lane: number, route_id: routeId, binding_id: bindingId } of statements.lanes()) {
      stored.add(number);
      if (!this.#byNumber.has(number)) this.#add(new Lane(number, routeId, bindingId));
    }
    for (const lane of this.#byNumber.values()) lane.reset(stored.has(lane.number), depths.get(lane.number) ?? 0);
    return [...depths.keys()].every((lane) => stored.has(lane));
  }

  find(routeId: string, bindingId: string): Lane | undefined {
    return this.#byRoute.get(routeId)?.get(bindingId);
  }

  findOrAdd(routeId: string, bindingId: string): Lane {
    return this.find(routeId, bindingId) ?? this.#add(new Lane(this.#highest + 1, routeId, bindingId));
  }

  numbered(number: number): Lane | undefined {
    return this.#byNumber.get(number);
  }

  /** Those that have unfinished records. */
  busy({ routeId, bindingId }: OutboxFilter = {}): readonly Lane[] {
    return [...this.#byNumber.values()].filter(
      (lane) =>
        lane.depth > 0 &&
        (routeId === undefined || lane.routeId === routeId) &&
        (bindingId === undefined || lane.bindingId === bindingId),
    );
  }

  #add(lane: Lane): Lane {
    const { routeId, bindingId } = lane;
    const ofRoute = this.#byRoute.get(routeId) ?? new Map<string, Lane>();
    this.#byRoute.set(routeId, ofRoute.set(bindingId, lane));
    this.#byNumber.set(lane.number, lane);
    this.#highest = Math.max(this.#highest, lane.number);
    return lane;
  }
}
