import { AsyncLocalStorage } from "node:async_hooks";
import { Parser, ProtocolHandler } from "@nats-io/transport-node";

/** Who watches what is read on one connection. */
export interface ReadGuard {
  /** Sees it before the library does; throws when it is not to be read. */
  look(bytes: Buffer): void;
  /** The guard has refused it, or the library cannot make sense of it. */
  failed(thrown: unknown): void;
}

const guards = new AsyncLocalStorage<ReadGuard>();
let watched = false;

/** The result of `connect`, all of whose reading `guard` watches. */
export function guarded<Result>(guard: ReadGuard, connect: () => Promise<Result>): Promise<Result> {
  watchLibrary();
  return guards.run(guard, connect);
}

/**
 * The library reads in a loop that ends at the first exception, writes it to the console and keeps the connection. It offers
 * no place to watch what is read, of TLS least of all, so its parser is exchanged right after it has made it; connections of
 * others keep theirs.
 */
function watchLibrary(): void {
  if (watched) return;
  watched = true;
  const { prototype } = ProtocolHandler;
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { resetOutbound } = prototype;
  prototype.resetOutbound = function (this: ProtocolHandler) {
    resetOutbound.call(this);
    const guard = guards.getStore();
    if (guard !== undefined) this.parser = new GuardedParser(this, guard);
  };
}

class GuardedParser extends Parser {
  readonly #guard: ReadGuard;
  #failed = false;

  constructor(protocol: ProtocolHandler, guard: ReadGuard) {
    super(protocol);
    this.#guard = guard;
  }

  override parse(bytes: Buffer): void {
    if (this.#failed) return;
    try {
      this.#guard.look(bytes);
      super.parse(bytes);
    } catch (error) {
      this.#failed = true;
      this.#guard.failed(error);
    }
  }
}
