import { once } from "node:events";
import { type AcceptedOutcome, BridgeError, type Delivery } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { accept, type OpenReceiver, openReceiver, openSmallReceiver, textOf } from "../support/open-receiver.ts";
import { RawConnection } from "../support/raw-connection.ts";

const OUTCOMES: readonly AcceptedOutcome[] = [
  "delivered",
  "persisted",
  "duplicate",
  "dead_lettered",
  "dropped",
  "filtered",
  "expired",
];

const POST = "POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx";

function post(source: OpenReceiver, headers: Readonly<Record<string, string>> = {}, body = "x"): Promise<Response> {
  return fetch(source.url, { method: "POST", headers, body });
}

/** When it is over, the server has seen what happened on other connections before. */
async function roundTrip(source: OpenReceiver): Promise<void> {
  for (let i = 0; i < 3; i++) expect((await fetch(`http://127.0.0.1:${source.port}/elsewhere`)).status).toBe(404);
}

async function isAborted(delivery: Delivery): Promise<void> {
  const { signal } = delivery;
  if (signal?.aborted === false) await once(signal, "abort");
  expect(signal?.aborted).toBe(true);
}

describe("a settled message (contract 8)", () => {
  test.for(OUTCOMES)("is answered 202 with its outcome: %s", async (outcome) => {
    await using source = await openReceiver();
    const answer = post(source);
    const delivery = await source.next();
    await delivery.settle({ kind: "accept", outcome, envelopeId: "e-1" });
    const response = await answer;
    expect(response.status).toBe(202);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.json()).toEqual({ status: "accepted", envelope_id: "e-1", outcome });
  });

  test("is answered with the request's correlation id, else with the envelope's", async () => {
    await using source = await openReceiver();
    const first = post(source, { "x-correlation-id": "c-1" });
    await accept(await source.next());
    expect((await first).headers.get("x-correlation-id")).toBe("c-1");
    const second = post(source, { "idempotency-key": "k-1" });
    await accept(await source.next());
    expect((await second).headers.get("x-correlation-id")).toBe("k-1");
  });

  test("is answered with ids beyond ASCII as they came, in UTF-8", async () => {
    await using source = await openReceiver();
    const bytes = Buffer.from("größe 東京 🚀", "utf8").toString("latin1");
    const answer = post(source, { "x-correlation-id": bytes, "idempotency-key": bytes });
    await accept(await source.next());
    const response = await answer;
    expect(response.headers.get("x-correlation-id")).toBe(bytes);
    expect(await response.json()).toMatchObject({ envelope_id: "größe 東京 🚀" });
  });

  test("is not answered before it is settled, and in any order", async () => {
    await using source = await openReceiver();
    const answered: string[] = [];
    const requests = ["a", "b", "c"].map(async (body) => {
      const response = await post(source, {}, body);
      answered.push(body);
      return response.status;
    });
    const deliveries = [await source.next(), await source.next(), await source.next()];
    expect(answered).toEqual([]);
    await Promise.all(deliveries.toReversed().map((delivery) => accept(delivery)));
    expect(deliveries.some(({ signal }) => signal?.aborted)).toBe(false);
    expect(await Promise.all(requests)).toEqual([202, 202, 202]);
  });

  test("is answered also when its receiver is disposed in the turn of the settlement", async () => {
    const source = await openReceiver();
    const answer = post(source);
    const delivery = await source.next();
    void accept(delivery);
    await source[Symbol.asyncDispose]();
    expect((await answer).status).toBe(202);
  });

  test("finding 5.1: is taken when the one before it on the same connection is answered", async () => {
    await using source = await openSmallReceiver({});
    await using caller = await RawConnection.open(source.port);
    caller.write(
      ["first", "second"]
        .map((id) => POST.replace("Host: localhost", `Host: localhost\r\nIdempotency-Key: ${id}`))
        .join(""),
    );
    const first = await source.next();
    expect(source.receiver.counters?.()).toMatchObject({ unanswered: 1, waiting: 0 });
    void accept(first);
    void accept(await source.next());
    await caller.receives(/first.*second/s);
  });

  test("an envelope id that no header could hold does not break the answer", async () => {
    await using source = await openReceiver();
    const answer = post(source);
    await (await source.next()).settle({ kind: "accept", outcome: "delivered", envelopeId: "a\r\nX-Evil: 1\u0000ü" });
    const response = await answer;
    expect(response.headers.has("x-evil")).toBe(false);
    expect(await response.json()).toMatchObject({ envelope_id: "a\r\nX-Evil: 1\u0000ü" });
  });

  test("a release is a request to come back", async () => {
    await using source = await openReceiver();
    const answer = post(source);
    const delivery = await source.next();
    expect(delivery.releasable).toBe(false);
    await delivery.settle({ kind: "release", delayMs: 2_100 });
    const response = await answer;
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "3"]);
  });

  test("a message that is refused is answered 422 with the reason (contract 8)", async () => {
    await using source = await openReceiver();
    const answer = post(source);
    const delivery = await source.next();
    expect(delivery.refusable).toBe(true);
    await delivery.settle({ kind: "refuse", error: new BridgeError("ID_CONFLICT", "another payload under this id") });
    const response = await answer;
    expect(response.status).toBe(422);
    expect(await response.json()).toEqual({ error: "another payload under this id" });
  });
});

describe("a message that is not settled (contract 8)", () => {
  test("is answered 503 at response_timeout, and its delivery is cancelled", async () => {
    await using source = await openReceiver({ options: { response_timeout: "50ms" } });
    const answer = post(source, { "x-correlation-id": "c" });
    const delivery = await source.next();
    await isAborted(delivery);
    const response = await answer;
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.headers.get("x-correlation-id")).toBe("c");
    expect(await response.json()).toEqual({ error: expect.stringContaining("Idempotency-Key") as string });
    await expect(accept(delivery)).rejects.toSatisfy((error) => BridgeError.is(error));
    expect(source.receiver.counters?.()).toMatchObject({ notConfirmed: 1, unanswered: 0 });
  });

  test("has an aborted signal also when nobody looked at it before", async () => {
    await using source = await openReceiver();
    const answer = post(source);
    const delivery = await source.next();
    source.stop();
    expect((await answer).status).toBe(503);
    expect(delivery.signal?.aborted).toBe(true);
  });

  test("gets its answer at response_timeout while it waits to be pulled, and is not handed out later", async () => {
    await using source = await openReceiver({ options: { response_timeout: "50ms" } });
    expect((await post(source, {}, "late")).status).toBe(503);
    const answer = post(source, {}, "in time");
    const delivery = await source.next();
    expect(textOf(delivery.message)).toBe("in time");
    await accept(delivery);
    expect((await answer).status).toBe(202);
  });

  test("is answered 503 when the iteration ends, pulled or waiting", async () => {
    await using source = await openReceiver();
    const pulled = post(source);
    const delivery = await source.next();
    const waiting = post(source);
    await expect.poll(() => source.receiver.counters?.()["waiting"]).toBe(1);
    source.stop();
    for (const response of await Promise.all([pulled, waiting])) {
      expect(response.status).toBe(503);
      expect(response.headers.has("retry-after")).toBe(true);
    }
    await isAborted(delivery);
    expect((await post(source)).status).toBe(503);
  });

  test("is answered 503 when the receiver is disposed, also while its body still arrives", async () => {
    const source = await openSmallReceiver({});
    await using arriving = await RawConnection.open(source.port);
    arriving.write("POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    const pulled = post(source);
    const delivery = await source.next();
    await source[Symbol.asyncDispose]();
    expect(await arriving.ends()).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1\r\n/s);
    expect((await pulled).status).toBe(503);
    await isAborted(delivery);
    await expect(fetch(source.url, { method: "POST" })).rejects.toThrow("fetch failed");
  });
});

describe("an iteration", () => {
  test("that has ended ends no later one", async () => {
    await using source = await openSmallReceiver({});
    source.stop();
    expect((await post(source)).status).toBe(503);
    const [first, second] = [new AbortController(), new AbortController()];
    const ended = source.receiver.receive(first.signal)[Symbol.asyncIterator]();
    const waiting = ended.next();
    first.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const open = source.receiver.receive(second.signal)[Symbol.asyncIterator]();
    expect(await ended.return?.()).toEqual({ done: true, value: undefined });
    const [answer, next] = [post(source), await open.next()];
    if (next.done === true) throw new Error("it has ended");
    await accept(next.value);
    expect((await answer).status).toBe(202);
    const later = open.next();
    await open.return?.();
    expect(await later).toEqual({ done: true, value: undefined });
    expect((await post(source)).status).toBe(503);
  });

  test("under a signal that has aborted, or of a receiver that is disposed, has ended", async () => {
    const source = await openSmallReceiver({});
    const aborted = source.receiver.receive(AbortSignal.abort())[Symbol.asyncIterator]();
    expect(await aborted.next()).toEqual({ done: true, value: undefined });
    await source[Symbol.asyncDispose]();
    const late = source.receiver.receive(new AbortController().signal)[Symbol.asyncIterator]();
    expect(await late.next()).toEqual({ done: true, value: undefined });
  });
});

describe("a caller that hangs up", () => {
  test("does not end the work on its message; the answer goes nowhere", async () => {
    await using source = await openSmallReceiver({});
    const caller = await RawConnection.open(source.port);
    caller.write(POST);
    const delivery = await source.next();
    expect(delivery.begin?.()).toBe(true);
    await caller[Symbol.asyncDispose]();
    await roundTrip(source);
    expect(delivery.signal?.aborted).toBe(false);
    await expect(accept(delivery)).resolves.toBeUndefined();
  });

  test("before the work on its message has begun, takes it back", async () => {
    await using source = await openSmallReceiver({});
    const caller = await RawConnection.open(source.port);
    caller.write(POST);
    const delivery = await source.next();
    await caller[Symbol.asyncDispose]();
    await roundTrip(source);
    expect(delivery.begin?.()).toBe(false);
    expect(source.receiver.counters?.()).toMatchObject({ unanswered: 0 });
  });

  test("takes it back, too, when the work on its message has begun and has nothing to show yet: who asks again is told", async () => {
    await using source = await openSmallReceiver({});
    const caller = await RawConnection.open(source.port);
    caller.write(POST);
    const delivery = await source.next();
    expect(delivery.begin?.()).toBe(true);
    await caller[Symbol.asyncDispose]();
    await roundTrip(source);
    expect([delivery.begin?.(), delivery.begin?.()]).toEqual([false, false]);
    expect(source.receiver.counters?.()).toMatchObject({ unanswered: 0 });
  });

  test("before its message was pulled, takes it back", async () => {
    await using source = await openSmallReceiver({});
    const caller = await RawConnection.open(source.port);
    caller.write(POST.replace("Content-Length: 1", "Content-Length: 1\r\nX-Subject: left"));
    await expect.poll(() => source.receiver.counters?.()["waiting"]).toBe(1);
    await caller[Symbol.asyncDispose]();
    await roundTrip(source);
    const other = post(source, { "x-subject": "stayed" });
    await expect.poll(() => source.receiver.counters?.()["waiting"]).toBe(2);
    const delivery = await source.next();
    expect(delivery.message.subject).toBe("stayed");
    await accept(delivery);
    expect((await other).status).toBe(202);
  });

  test("in the middle of its body leaves nothing behind", async () => {
    await using source = await openSmallReceiver({});
    const caller = await RawConnection.open(source.port);
    caller.write("POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    await expect.poll(() => source.receiver.counters?.()).toMatchObject({ waiting: 1, waitingBytes: 10 });
    await caller[Symbol.asyncDispose]();
    await expect.poll(() => source.receiver.counters?.()).toMatchObject({ waiting: 0, waitingBytes: 0, unanswered: 0 });
  });
});

describe("over capacity (contract 8)", () => {
  test("a request beyond those that may wait is answered 503 at once", async () => {
    await using source = await openSmallReceiver({ requests: 2 });
    const waiting = [post(source), post(source)];
    await expect.poll(() => source.receiver.counters?.()["waiting"]).toBe(2);
    const refused = await post(source);
    expect(refused.status).toBe(503);
    expect(refused.headers.has("retry-after")).toBe(true);
    expect(await refused.json()).toEqual({ error: "over capacity" });
    expect(source.receiver.counters?.()).toMatchObject({ overCapacity: 1 });
    await accept(await source.next());
    const third = post(source);
    await accept(await source.next());
    await accept(await source.next());
    const answers = await Promise.all([...waiting, third]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  });

  test.for(["announced", "chunked"])("so is one whose body has no room, %s", async (how) => {
    await using source = await openSmallReceiver({ bytes: 10 });
    const waiting = post(source, {}, "12345678");
    await expect.poll(() => source.receiver.counters?.()["waitingBytes"]).toBe(8);
    await using caller = await RawConnection.open(source.port);
    caller.write(
      how === "announced"
        ? "POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
        : "POST /ingest HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    );
    expect(await caller.receives(/capacity/)).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1\r\n/s);
    expect(source.receiver.counters?.()).toMatchObject({ waiting: 1, waitingBytes: 8 });
    await accept(await source.next());
    expect((await waiting).status).toBe(202);
    expect(source.receiver.counters?.()).toMatchObject({ waiting: 0, waitingBytes: 0 });
  });
});
