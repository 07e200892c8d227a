import type { Supervisor } from "../supervisor/contract.ts";
import type { SupervisorOptions } from "../supervisor/create-supervisor.ts";
import { Life } from "./life.ts";

/** What a supervisor is given besides its configuration and what its definition says. */
export type StartSeams = Omit<SupervisorOptions, "config" | "registry" | "hooks" | "departures">;

/** Is told at once what ends the bridge that a call has begun or joined. */
export type Bound = (end: (reason: unknown) => void) => void;

/** The supervisor of a bridge in code: one at a time, which all share who start it. */
export class SharedStart {
  readonly #make: (seams: StartSeams) => Supervisor;
  #life: Life | undefined;

  constructor(make: (seams: StartSeams) => Supervisor) {
    this.#make = make;
  }

  /**
   * With `bound`, the call lasts as long as the bridge: it may end it, also when it was begun by another call, and when somebody
   * else does, the call is over rather than failed.
   */
  async start(seams: StartSeams, signal: AbortSignal | undefined, bound?: Bound): Promise<Supervisor> {
    for (;;) {
      signal?.throwIfAborted();
      const current = this.#life;
      const joins = current !== undefined && !current.isOver;
      const life = joins ? current : this.#begin(seams, signal, current);
      bound?.((reason) => life.end(reason));
      try {
        return await (joins ? life.join(signal) : life.supervisor);
      } catch (error) {
        if (bound !== undefined && life.wasEnded) {
          const supervisor = await life.closed();
          if (signal?.aborted !== true) return supervisor;
        }
        if (signal?.aborted === true || !joins || !life.isGivenUp) throw error;
      }
    }
  }

  #begin(seams: StartSeams, signal: AbortSignal | undefined, former: Life | undefined): Life {
    const life = new Life(this.#make(seams), signal, former);
    this.#life = life;
    life.supervisor.catch(() => {
      if (this.#life === life) this.#life = life.former;
    });
    return life;
  }
}
