import { isDeepStrictEqual } from "node:util";
import type { ApiKey, HttpSection } from "@bridge/config";
import type { MonitorKeys } from "@bridge/http-monitor";
import type { Logger } from "@bridge/ports";
import { ROLES } from "@bridge/ports/internal";
import { apiKeys } from "./api-keys.ts";
import type { HostProcess } from "./host-process.ts";
import { messageOf } from "./message-of.ts";
import { RotatingKeys, type ServerKeys, serverKeys, warnOfSharedKey } from "./server-keys.ts";

/**
 * The keys of a process that has them from its configuration and environment. Those of `http.api_keys` are always the
 * ones that the configuration in force names; the two without names are those of the start, as the rest of the `http`
 * block is.
 */
export class ConfiguredKeys {
  readonly #env: HostProcess["env"];
  readonly #logger: Logger;
  /** Those of `http.api_keys` that are in force. */
  #named: readonly ApiKey[] = [];
  #started: { readonly keys: MonitorKeys; readonly inForce: RotatingKeys } | undefined;

  constructor(env: HostProcess["env"], logger: Logger) {
    this.#env = env;
    this.#logger = logger;
  }

  /**
   * What opens the servers of a process that starts with this block.
   * @throws Error when that would be nothing, now or after a restart, or a key cannot be used
   */
  of(http: HttpSection | undefined): ServerKeys {
    const keys = apiKeys(http, this.#env);
    if (this.#started === undefined) {
      this.#started = { keys, inForce: new RotatingKeys(keys) };
      this.#named = http?.apiKeys ?? [];
      return this.#started.inForce;
    }
    serverKeys(keys);
    const next = serverKeys(this.#next(this.#started.keys, http));
    if (next.admin === undefined && this.#started.inForce.admin !== undefined)
      throw new Error("the admin server would have no key any more: leave one in http.api_keys");
    return next;
  }

  /**
   * Whoever changes the block over the admin server can go on changing it, now and after a restart.
   * @throws Error when nobody could, or as {@link of} does
   */
  demand(http: HttpSection | undefined): void {
    this.of(http);
    if (this.#started === undefined) return;
    const now = this.#next(this.#started.keys, http);
    if (![now, apiKeys(http, this.#env)].every(mayChange))
      throw new Error(
        "nobody could change the configuration over the admin server any more: leave a key that can, such as one in http.api_keys with the role admin or the permission config.write",
      );
  }

  /**
   * The configuration that is in force has this block. Never throws: what cannot be used leaves the former keys in
   * force.
   */
  follow(http: HttpSection | undefined): void {
    if (this.#started === undefined) return;
    const { keys, inForce } = this.#started;
    const named = http?.apiKeys ?? [];
    if (isDeepStrictEqual(named, this.#named)) return;
    try {
      inForce.replace(this.#next(keys, http));
      this.#named = named;
      this.#logger.info("http.api_keys has changed: the keys that it names now are in force");
      warnOfSharedKey(inForce, this.#logger);
    } catch (error) {
      this.#logger.error("http.api_keys cannot be used: the former keys stay in force", { error: messageOf(error) });
    }
  }

  #next(started: MonitorKeys, http: HttpSection | undefined): MonitorKeys {
    return { ...started, adminApiKeys: apiKeys(http, this.#env).adminApiKeys };
  }
}

function mayChange({ adminApiKey, adminApiKeys = {} }: MonitorKeys): boolean {
  if (adminApiKey !== undefined && adminApiKey !== "") return true;
  return Object.values(adminApiKeys).some((key) => {
    if (typeof key === "string") return true;
    const permissions = key.role === undefined ? key.permissions : ROLES[key.role];
    return permissions.includes("config.write");
  });
}
