import { once } from "node:events";
import { createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { boundCredentials } from "../src/internal.ts";

const WAIT = { timeout: 60_000, interval: 5 };

let server: Server;
let asked = 0;
beforeAll(async () => {
  server = createServer(() => void asked++).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  await once(server.close(), "close");
});

/** Rejects when the request ends; nothing ever answers it. */
async function silence(): Promise<never> {
  // As providers do, which load what they need before they ask.
  await new Promise((resolve) => setImmediate(resolve));
  const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  const [error] = (await once(request, "error")) as [Error];
  throw error;
}

/** Gives credentials at first, as the SDK's chain does: those that expire soon are renewed while they are still handed out. */
function chain(lifeMs: number) {
  const credentials = { expiration: new Date(Date.now() + lifeMs) };
  let renewing: Promise<unknown> | undefined;
  let isFirst = true;
  return async (options?: { readonly forceRefresh?: boolean }) => {
    if (isFirst) isFirst = false;
    else if (options?.forceRefresh === true || credentials.expiration.getTime() < Date.now()) await silence();
    else renewing ??= silence().catch(() => (renewing = undefined));
    return credentials;
  };
}

test("a renewal that gets no answer is given up and begun again, while the credentials are handed out", async () => {
  const config = { credentials: chain(60_000) };
  boundCredentials(config, 20);
  const first = await config.credentials();
  asked = 0;
  await expect
    .poll(async () => {
      expect(await config.credentials()).toBe(first);
      return asked;
    }, WAIT)
    .toBeGreaterThan(2);
});

test("credentials that have expired are asked for in time, and who wants them is told", async () => {
  const config = { credentials: chain(-1) };
  boundCredentials(config, 20);
  await config.credentials();
  await expect(config.credentials()).rejects.toThrow("the request for credentials got no answer within 20 ms");
});

test("credentials that do not expire soon are asked for once, unless new ones are demanded", async () => {
  let times = 0;
  const ask = () => Promise.resolve({ expiration: new Date(Date.now() + 3_600_000), times: ++times });
  const config: { credentials: (options?: { readonly forceRefresh?: boolean }) => ReturnType<typeof ask> } = {
    credentials: ask,
  };
  boundCredentials(config, 20);
  await config.credentials();
  expect(await config.credentials()).toMatchObject({ times: 1 });
  expect(await config.credentials({ forceRefresh: true })).toMatchObject({ times: 2 });
  expect(await config.credentials()).toMatchObject({ times: 2 });
});
