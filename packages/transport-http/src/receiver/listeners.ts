import { type ListenerStats, sameTlsFiles, type TlsFiles } from "@bridge/net-kit";
import { type Clock, type Logger } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { ListenAddress } from "./listen-address.ts";
import { Listener, LISTENER_LIMITS, type ListenerLimits, type Mount } from "./listener.ts";

interface Shared {
  readonly tls: TlsFiles | undefined;
  readonly listener: Promise<Listener>;
  users: number;
}

export interface MountOptions {
  readonly address: ListenAddress;
  readonly path: string;
  readonly mount: Mount;
  readonly tls: TlsFiles | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A receiver's place on a listener; disposing it gives the place up, and with the last one the listener closes. */
export interface Mounted extends AsyncDisposable {
  readonly port: number;
  /** Of the whole listener. */
  stats(): ListenerStats | undefined;
}

/**
 * The listeners of one transport, by address, each open while a receiver uses it. It stays open, too, for one that is to
 * follow: a receiver that is replaced is closed before its successor opens, and callers are not to notice more of that than
 * an answer that asks them to come back.
 *
 * They belong to the transport value and not to the module, so that two bridges in one process that were given a
 * transport each know nothing of one another: on one address the second gets the error of a port in use.
 */
export class Listeners {
  readonly #limits: ListenerLimits;
  readonly #open = new Map<string, Shared>();
  /** How many receivers have been built for an address and are not open there yet. */
  readonly #expected = new Map<string, number>();

  constructor(limits: ListenerLimits = LISTENER_LIMITS) {
    this.#limits = limits;
  }

  /** Somebody is going to mount at `address`, until that is done or the result is disposed. */
  expect({ text: key }: ListenAddress): AsyncDisposable {
    this.#expected.set(key, this.#expectedAt(key) + 1);
    let over: Promise<void> | undefined;
    return { [Symbol.asyncDispose]: () => (over ??= this.#expectNoMore(key)) };
  }

  /** @throws Error when the address cannot be listened on, is shared under other TLS files, or the path is taken; the signal's reason when it aborts */
  async mount({ address, path, mount, tls, clock, logger }: MountOptions, signal: AbortSignal): Promise<Mounted> {
    const key = address.text;
    const open = (): Promise<Listener> => Listener.open(address, { clock, logger, limits: this.#limits, tls });
    const former = this.#open.get(key);
    let shared: Shared;
    if (former === undefined) {
      shared = { tls, listener: open(), users: 0 };
    } else if (sameTlsFiles(former.tls, tls)) {
      shared = former;
    } else if (former.users === 0) {
      // Nobody is left who minds.
      shared = { tls, listener: closed(former).then(open), users: 0 };
    } else {
      throw new Error(
        `receiver "${mount.id}": ${key} is shared with a receiver that has other tls options: give all receivers of an address the same`,
      );
    }
    this.#open.set(key, shared);
    shared.users++;
    try {
      const listener = await orAborted(shared.listener, signal);
      const place = listener.mount(path, mount);
      let left: Promise<void> | undefined;
      const leave = (): Promise<void> => {
        place[Symbol.dispose]();
        return this.#leave(key, shared);
      };
      return { port: listener.port, stats: () => listener.stats(), [Symbol.asyncDispose]: () => (left ??= leave()) };
    } catch (error) {
      await this.#leave(key, shared);
      throw error;
    }
  }

  #expectedAt(key: string): number {
    return this.#expected.get(key) ?? 0;
  }

  async #expectNoMore(key: string): Promise<void> {
    const left = this.#expectedAt(key) - 1;
    if (left > 0) {
      this.#expected.set(key, left);
      return;
    }
    this.#expected.delete(key);
    const shared = this.#open.get(key);
    if (shared === undefined) return;
    if (shared.users === 0) await this.#close(key, shared);
    // All who were to come are here: a path that nobody has taken now is nobody's.
    else void shared.listener.then((listener) => listener.forgetClosed()).catch(() => {});
  }

  async #leave(key: string, shared: Shared): Promise<void> {
    if (--shared.users > 0) return;
    const isOpen = await shared.listener.then(
      () => true,
      () => false,
    );
    // Others may have come meanwhile, or have closed it.
    if (shared.users > 0 || this.#open.get(key) !== shared) return;
    if (!isOpen || this.#expectedAt(key) === 0) await this.#close(key, shared);
  }

  #close(key: string, shared: Shared): Promise<void> {
    this.#open.delete(key);
    return closed(shared);
  }
}

async function closed({ listener }: Shared): Promise<void> {
  const open = await listener.catch(() => undefined);
  await open?.close();
}
