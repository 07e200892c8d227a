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
 * The listeners of one transport, by address, each open while a receiver uses it.
 *
 * They belong to the transport value and not to the module, so that two bridges in one process that were given a
 * transport each know nothing of one another: on one address the second gets the error of a port in use.
 */
export class Listeners {
  readonly #limits: ListenerLimits;
  readonly #open = new Map<string, Shared>();

  constructor(limits: ListenerLimits = LISTENER_LIMITS) {
    this.#limits = limits;
  }

  /** @throws Error when the address cannot be listened on, is shared under other TLS files, or the path is taken; the signal's reason when it aborts */
  async mount({ address, path, mount, tls, clock, logger }: MountOptions, signal: AbortSignal): Promise<Mounted> {
    const key = address.text;
    const shared = this.#open.get(key) ?? {
      tls,
      listener: Listener.open(address, { clock, logger, limits: this.#limits, tls }),
      users: 0,
    };
    if (!sameTlsFiles(shared.tls, tls)) {
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

  async #leave(key: string, shared: Shared): Promise<void> {
    if (--shared.users > 0) return;
    this.#open.delete(key);
    const listener = await shared.listener.catch(() => undefined);
    await listener?.close();
  }
}
