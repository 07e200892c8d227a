import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { systemClock } from "./system.ts";

/** How long one request for credentials may go without a word. What answers them is on the machine or beside it. */
const TIMEOUT_MS = 2_000;
/** So long before they expire new ones are asked for; the SDK does the same. */
const RENEWED_MS = 300_000;

interface Asked {
  readonly forceRefresh?: boolean;
}

interface Credentials {
  readonly expiration?: Date;
}

const asking = new AsyncLocalStorage<number>();
let askings = 0;
let isWatching = false;

/**
 * Bounds what a client of the AWS SDK asks for its credentials (the endpoint of a container, a role, single sign-on): a request
 * that gets no answer is given up, and the SDK tries again. It has no such bound itself, and everything that needs
 * credentials would wait for that one answer for ever.
 *
 * `config` is the `config` of the client; milliseconds in `timeoutMs`.
 */
export function boundCredentials<Found extends Credentials>(
  config: { credentials: (options?: Asked) => Promise<Found> },
  timeoutMs = TIMEOUT_MS,
): void {
  const ask = config.credentials;
  let found: Found | undefined;
  let renewing: Promise<void> | undefined;
  // Left to itself, the SDK would renew behind the back of whoever asks, where on Node 22 no bound reaches it.
  const renew = async (): Promise<void> => {
    try {
      found = await inTime(timeoutMs, () => ask({ forceRefresh: true }));
    } catch {
      // The next to ask tries again, and is told once these have expired.
    }
    renewing = undefined;
  };
  const bounded = async (options?: Asked): Promise<Found> => {
    if (found !== undefined && options?.forceRefresh !== true && lifeMs(found) > 0) {
      if (lifeMs(found) < RENEWED_MS) renewing ??= renew();
      return found;
    }
    return (found = await inTime(timeoutMs, () => ask(options)));
  };
  // The SDK has kept them already.
  config.credentials = Object.assign(bounded, { memoized: true });
}

function lifeMs({ expiration }: Credentials): number {
  return expiration === undefined ? Infinity : expiration.getTime() - systemClock.now();
}

async function inTime<T>(timeoutMs: number, ask: () => Promise<T>): Promise<T> {
  if (!isWatching) subscribe("http.client.request.created", giveUpInTime);
  isWatching = true;
  askings++;
  try {
    return await asking.run(timeoutMs, ask);
  } finally {
    // On Node 22 a storage in use costs each promise of the process.
    if (--askings === 0) asking.disable();
  }
}

/** The SDK's providers make their own clients, and take no signal: their requests are known by where they are made. */
function giveUpInTime(message: unknown): void {
  const timeoutMs = asking.getStore();
  if (timeoutMs === undefined) return;
  const { request } = message as { readonly request: ClientRequest };
  request.setTimeout(timeoutMs, () =>
    request.destroy(new Error(`the request for credentials got no answer within ${timeoutMs} ms`)),
  );
}
