import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, type Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { boundCredentials } from "../src/internal.ts";

const TIMES = { requestMs: 20, waitMs: 60_000, renewalPauseMs: 0, refusalPauseMs: 0, failurePauseMs: 0 };
const WAIT = { timeout: 60_000, interval: 5 };

let server: Server;
let asked = 0;
let answer: (response: ServerResponse) => void = () => {};
beforeAll(async () => {
  server = createServer((_, response) => {
    asked++;
    answer(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.closeAllConnections();
  await once(server.close(), "close");
});

type Asked = { readonly forceRefresh?: boolean };
type Middleware = (next: (args: object) => Promise<unknown>) => (args: object) => Promise<unknown>;

/** Without requests of its own. */
function client<Config extends object>(config: Config) {
  const requestHandler = { handle: () => Promise.reject(new Error("none is expected")) };
  return { config: Object.assign(config, { requestHandler }), middlewareStack: { addRelativeTo: () => {} } };
}

/** What makes a request, and once more where that is right; `send` is one try of it. */
function requests(
  config: { credentials: (options?: Asked) => Promise<object> },
  times: typeof TIMES,
  send: () => unknown,
) {
  let middleware: Middleware | undefined;
  const middlewareStack = { addRelativeTo: (added: Middleware) => void (middleware = added) };
  boundCredentials({ ...client(config), middlewareStack }, times);
  return async () => middleware?.(async () => send())({});
}

function refused(): never {
  throw Object.assign(new Error(), { name: "UnrecognizedClientException" });
}

/** Rejects when the request ends; nothing ever answers it. */
async function silence(): Promise<never> {
  answer = () => {};
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
  boundCredentials(client(config), TIMES);
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
  boundCredentials(client(config), TIMES);
  await config.credentials();
  await expect(config.credentials()).rejects.toThrow(
    "127.0.0.1 was asked for credentials and has not answered within 20 ms",
  );
});

test("credentials that do not expire soon are asked for once, unless new ones are demanded", async () => {
  let times = 0;
  const ask = () => Promise.resolve({ expiration: new Date(Date.now() + 3_600_000), times: ++times });
  const config: { credentials: (options?: { readonly forceRefresh?: boolean }) => ReturnType<typeof ask> } = {
    credentials: ask,
  };
  boundCredentials(client(config), TIMES);
  await config.credentials();
  expect(await config.credentials()).toMatchObject({ times: 1 });
  expect(await config.credentials({ forceRefresh: true })).toMatchObject({ times: 2 });
  expect(await config.credentials()).toMatchObject({ times: 2 });
});

/** An answer of the server as one credential's, as providers read it. */
async function read(): Promise<object> {
  const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { accessKeyId: text };
}

/** Over the client's own carrier, as roles are asked for. */
async function readOver(handle: () => Promise<{ readonly response: { readonly body?: unknown } }>): Promise<object> {
  const { response } = await handle();
  let text = "";
  for await (const chunk of response.body as Readable) text += String(chunk);
  return { accessKeyId: text };
}

describe.each(["a connection of the provider's", "the client's own carrier"])("over %s", (way) => {
  const bounded = (requestMs: number) => {
    const requestHandler = {
      handle: (_request: object) => {
        const body = new PassThrough();
        answer(body as unknown as ServerResponse);
        return Promise.resolve({ response: { body } });
      },
    };
    const isOwn = way === "the client's own carrier";
    const credentials = (): Promise<object> =>
      isOwn ? readOver(() => requestHandler.handle({ hostname: "127.0.0.1" })) : read();
    const config = { requestHandler, credentials };
    boundCredentials({ config, middlewareStack: { addRelativeTo: () => {} } }, { ...TIMES, requestMs });
    return config;
  };

  test("an answer that comes drop by drop is given up in time", async () => {
    let drops: NodeJS.Timeout | undefined;
    answer = (response) => (drops = setInterval(() => response.write(" "), 1));
    await expect(bounded(20).credentials()).rejects.toMatchObject({
      name: "CredentialsProviderError",
      message: expect.stringMatching(/^\S+ was asked for credentials and has not answered within 20 ms$/) as string,
    });
    clearInterval(drops);
  });

  test("an answer of more than 64 KiB is refused, and not kept", async () => {
    let written = 0;
    answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(" ".repeat(16_384))) written++;
      };
      response.on("drain", more);
      more();
    };
    await expect(bounded(60_000).credentials()).rejects.toMatchObject({
      name: "CredentialsProviderError",
      message: "the answer has more than 65536 bytes, which are no credentials",
    });
    expect(written).toBeLessThan(10_000);
  });
});

test("however many want credentials, they are asked for by one, and after a failure with a pause", async () => {
  let times = 0;
  const ask = (_options?: Asked): Promise<object> => Promise.reject(new Error(`no ${++times}`));
  const config = { credentials: ask };
  boundCredentials(client(config), { ...TIMES, failurePauseMs: 60_000 });
  for (let round = 0; round < 3; round++) {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => config.credentials()));
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
  }
  expect(times).toBe(1);
});

test("credentials that expire soon are not asked for again before the pause is over", async () => {
  let times = 0;
  const config = {
    credentials: (_options?: Asked) =>
      Promise.resolve({ expiration: new Date(Date.now() + 60_000), accessKeyId: `${++times}` }),
  };
  boundCredentials(client(config), { ...TIMES, renewalPauseMs: 60_000 });
  for (let i = 0; i < 20; i++) await config.credentials();
  expect(times).toBe(1);
});

test("who waits for credentials that nobody gives is told", async () => {
  const config = { credentials: (_options?: Asked) => new Promise<object>(() => {}) };
  boundCredentials(client(config), { ...TIMES, waitMs: 20 });
  await expect(config.credentials()).rejects.toThrow("nobody has given credentials within 20 ms");
});

test("a request that is refused for its credentials is made once more with new ones, and not without", async () => {
  let key = 0;
  let isRotated = true;
  const config = {
    credentials: (_options?: Asked) => Promise.resolve({ accessKeyId: `${isRotated ? ++key : key}` }),
  };
  const signers: string[] = [];
  const send = requests(config, TIMES, async () => {
    const { accessKeyId } = await config.credentials();
    signers.push(accessKeyId);
    if (accessKeyId !== "2") throw Object.assign(new Error(), { name: "ExpiredTokenException" });
    return "sent";
  });
  await expect(send()).resolves.toBe("sent");
  expect(signers).toEqual(["1", "2"]);
  await config.credentials({ forceRefresh: true });
  isRotated = false;
  await expect(send()).rejects.toMatchObject({ name: "ExpiredTokenException" });
  expect(signers).toEqual(["1", "2", "3"]);
});

test("what a service refuses is asked for at once, however lately it was renewed, and then with a pause", async () => {
  let times = 0;
  const config = { credentials: (_options?: Asked) => Promise.resolve({ accessKeyId: "K", times: ++times }) };
  const send = requests(config, { ...TIMES, renewalPauseMs: 60_000, refusalPauseMs: 60_000 }, refused);
  await config.credentials();
  for (let i = 0; i < 20; i++) await expect(send()).rejects.toMatchObject({ name: "UnrecognizedClientException" });
  expect(times).toBe(2);
});

test("however many requests are refused at once, one asks for credentials, and all are made once more", async () => {
  let key = 0;
  const config = { credentials: (_options?: Asked) => Promise.resolve({ accessKeyId: `K${++key}` }) };
  const signers: string[] = [];
  const send = requests(config, { ...TIMES, refusalPauseMs: 60_000 }, async () => {
    const { accessKeyId } = await config.credentials();
    signers.push(accessKeyId);
    return accessKeyId === "K1" ? refused() : "sent";
  });
  await config.credentials();
  const results = await Promise.all(Array.from({ length: 20 }, () => send()));
  expect(new Set(results)).toEqual(new Set(["sent"]));
  expect(signers.toSorted()).toEqual([...Array<string>(20).fill("K1"), ...Array<string>(20).fill("K2")]);
});

test("the key that was refused counts, not when it came: the same one got anew is no other", async () => {
  let times = 0;
  const config = { credentials: (_options?: Asked) => Promise.resolve({ accessKeyId: times++ < 2 ? "K1" : "K2" }) };
  const tries: string[] = [];
  const send = requests(config, TIMES, async () => {
    const { accessKeyId } = await config.credentials();
    tries.push(accessKeyId);
    if (accessKeyId !== "K1") return "sent";
    // It is renewed while the request is on its way.
    await config.credentials({ forceRefresh: true });
    return refused();
  });
  await config.credentials();
  await expect(send()).resolves.toBe("sent");
  expect(tries).toEqual(["K1", "K2"]);
});

test("credentials that are past when they come are used, and not asked for again before the pause is over", async () => {
  let times = 0;
  const config = {
    credentials: (_options?: Asked) => Promise.resolve({ expiration: new Date(0), accessKeyId: `K${++times}` }),
  };
  boundCredentials(client(config), { ...TIMES, renewalPauseMs: 60_000 });
  for (let i = 0; i < 20; i++) expect(await config.credentials()).toMatchObject({ accessKeyId: "K1" });
  expect(times).toBe(1);
});
