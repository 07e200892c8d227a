import { describe, expect, test } from "vitest";
import { ACCEPT, accept, never, take, textOf, until } from "../support/parts.ts";
import { stage } from "../support/stage.ts";

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `m${i}`);

describe("polls", () => {
  test("take no more than the window and one request", async () => {
    await using place = await stage({ maxInFlight: 20 });
    await place.publish(...many(60));
    const held = await take(place.receiving, 20);
    await until(() => place.count("held") === 30);
    expect(place.receiver.counters?.()).toMatchObject({ held: 30, waiting: 10, polls: 0 });
    await Promise.all(held.map(accept));
    await until(() => place.queue.inFlight === 30);
  });

  test("of a window of one ask for one message", async () => {
    await using place = await stage({ maxInFlight: 1 });
    await place.publish("a", "b", "c");
    const [held] = await take(place.receiving, 1);
    await until(() => place.queue.inFlight === 2);
    await held!.settle(ACCEPT);
    expect(
      place.sqs.calls
        .filter(({ action }) => action === "ReceiveMessage")
        .map(({ input }) => input["MaxNumberOfMessages"]),
    ).toContain(1);
  });

  test("follow the window of the route when it changes", async () => {
    await using place = await stage({ maxInFlight: 2 });
    await place.publish(...many(60));
    const few = await take(place.receiving, 2);
    await until(() => place.count("held") === 4);
    place.window.maxInFlight = 20;
    await Promise.all(few.map(accept));
    await take(place.receiving, 20);
    await until(() => place.count("held") >= 21);
    const sizes = place.sqs.calls.flatMap(({ action, input }) =>
      action === "ReceiveMessage" ? [input["MaxNumberOfMessages"]] : [],
    );
    expect(sizes.slice(0, 2)).toEqual([2, 2]);
    expect(sizes.at(-1)).toBe(10);
    expect(place.count("held")).toBeLessThanOrEqual(30);
  });

  test("are one on an empty queue, and more when there is more", async () => {
    await using place = await stage({ maxInFlight: 100 });
    await place.publish(...many(100));
    const held = await take(place.receiving, 100);
    expect(place.count("receiveRequests")).toBeLessThanOrEqual(15);
    await Promise.all(held.map(accept));
    const idle = place.receiving.next();
    await place.passUntil(() => place.count("polls") === 1);
    place.iteration.abort();
    expect((await idle).done).toBe(true);
  });

  test("that end after a stop give back what they bring, at once", async () => {
    await using place = await stage();
    const blocked = place.receiving.next();
    await until(() => place.count("polls") === 1);
    place.iteration.abort();
    expect((await blocked).done).toBe(true);
    await place.publish("a");
    const other = place.another().receive(never())[Symbol.asyncIterator]();
    const [delivery] = await take(other, 1);
    expect(textOf(delivery!)).toBe("a");
    await delivery!.settle(ACCEPT);
    expect(place.receiver.counters?.()).toMatchObject({ received: 1, givenBack: 1 });
  });

  test("are waited for by a dispose, and not for ever", async () => {
    await using place = await stage();
    const blocked = place.receiving.next();
    await until(() => place.count("polls") === 1);
    let disposed = false;
    const disposing = place.receiver[Symbol.asyncDispose]().then(() => (disposed = true));
    await place.pass(3.9);
    expect(disposed).toBe(false);
    await place.pass(0.2);
    await disposing;
    expect((await blocked).done).toBe(true);
    expect(place.count("polls")).toBe(1);
  });

  test("that are out for longer than a dispose waits give back what they bring all the same", async () => {
    await using place = await stage();
    const blocked = place.receiving.next();
    await until(() => place.count("polls") === 1);
    const disposing = place.receiver[Symbol.asyncDispose]();
    await place.pass(4.1);
    await disposing;
    expect((await blocked).done).toBe(true);
    await place.publish("a");
    await until(() => place.count("givenBack") === 1);
    const other = place.another().receive(never())[Symbol.asyncIterator]();
    const [delivery] = await take(other, 1);
    expect(textOf(delivery!)).toBe("a");
    await delivery!.settle(ACCEPT);
    expect(place.count("polls")).toBe(0);
    expect(place.queue.inFlight).toBe(0);
  });

  test("that are out after a dispose end when nothing comes", async () => {
    await using place = await stage();
    const blocked = place.receiving.next();
    await until(() => place.count("polls") === 1);
    const disposing = place.receiver[Symbol.asyncDispose]();
    await place.passUntil(() => place.count("polls") === 0);
    await Promise.all([disposing, blocked]);
    expect(place.sqs.calls.filter(({ action }) => action === "ReceiveMessage")).toHaveLength(1);
  });

  test("that are refused make the source lost; what is held stays, and the next iteration goes on", async () => {
    await using place = await stage();
    await place.publish("a");
    const [held] = await take(place.receiving, 1);
    place.sqs.fault = ({ action }) =>
      action === "ReceiveMessage" ? { kind: "refuse", code: "ThrottlingException" } : undefined;
    await expect(place.receiving.next()).rejects.toMatchObject({ code: "THROTTLED" });
    place.sqs.fault = undefined;
    expect(held!.signal?.aborted).toBe(false);
    const again = place.receiver.receive(never())[Symbol.asyncIterator]();
    const next = take(again, 1);
    await place.publish("b");
    expect((await next).map(textOf)).toEqual(["b"]);
    await held!.settle(ACCEPT);
  });

  test("of a FIFO queue whose answer was lost are asked for again, and bring the same", async () => {
    await using place = await stage({ fifo: true });
    await place.publish("a1", "a2");
    let lost = 0;
    place.sqs.fault = ({ action }) => (action === "ReceiveMessage" && lost++ === 0 ? { kind: "lose" } : undefined);
    await expect(place.receiving.next()).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(place.queue.inFlight).toBe(2);
    const again = place.receiver.receive(never())[Symbol.asyncIterator]();
    expect((await take(again, 2)).map(textOf)).toEqual(["a1", "a2"]);
  });

  test("what is unsettled when the iteration ends is shown to others at once", async () => {
    await using place = await stage();
    await place.publish(...many(3));
    const held = await take(place.receiving, 2);
    place.iteration.abort();
    expect((await place.receiving.next()).done).toBe(true);
    await until(() => place.queue.inFlight === 0);
    expect(held.every(({ signal }) => signal?.aborted)).toBe(true);
    await expect(held[0]!.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });
});
