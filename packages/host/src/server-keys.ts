import { createKeyring, type Keyring, namedAdminKeys } from "@bridge/http-kit";
import type { Logger } from "@bridge/ports";
import { type MonitorKeys, namedMonitorKeys } from "@bridge/http-monitor";

/** What opens the two servers. */
export interface ServerKeys {
  /** Absent: there is no admin server. */
  readonly admin: Keyring | undefined;
  readonly monitor: Keyring;
  /**
   * Whether a key that was given for the monitor server is an admin's, so that whoever may look may change everything.
   */
  readonly shared: boolean;
}

/** @throws Error when a key or the name of one is malformed; never shows a key */
export function serverKeys(keys: MonitorKeys): ServerKeys {
  const admins = namedAdminKeys(keys);
  const monitorKeys = [keys.monitorApiKey ?? "", ...Object.values(keys.monitorApiKeys ?? {})];
  return {
    admin: admins.length === 0 ? undefined : createKeyring(admins),
    monitor: createKeyring(namedMonitorKeys(keys)),
    shared: monitorKeys.some((key) => key !== "" && admins.some((admin) => admin.key === key)),
  };
}

/** Keys that can be exchanged while the servers use them. */
export class RotatingKeys implements ServerKeys {
  readonly admin: Keyring | undefined;
  readonly monitor: Keyring;
  #inForce: ServerKeys;

  /** @throws Error as {@link serverKeys} does */
  constructor(keys: MonitorKeys) {
    this.#inForce = serverKeys(keys);
    const identify: Keyring["identify"] = (presented) => this.#inForce.admin?.identify(presented);
    const holder: Keyring["holder"] = (name) => this.#inForce.admin?.holder?.(name);
    this.admin = this.#inForce.admin && { identify, holder };
    this.monitor = { identify: (presented) => this.#inForce.monitor.identify(presented) };
  }

  get shared(): boolean {
    return this.#inForce.shared;
  }

  /**
   * From now on `keys` open the servers, and no others.
   * @throws Error as {@link serverKeys} does, or when there is no admin key any more; the former keys stay in force
   * then
   */
  replace(keys: MonitorKeys): void {
    const next = serverKeys(keys);
    if (next.admin === undefined && this.admin !== undefined) throw new Error("the admin server needs a key");
    this.#inForce = next;
  }
}

/** What the document does not say itself is told when it comes into force. */
export function warnOfSharedKey({ shared }: ServerKeys, logger: Logger): void {
  if (shared)
    logger.warn("the monitor key is an admin key, so that whoever may look may change everything: use another");
}
