import { expect, test } from "vitest";
import { memoryHub } from "../src/index.ts";
import { ACCEPT, iterate, next, parts, signal } from "./parts.ts";

test("waits for messages and for settlements", async () => {
  const hub = memoryHub();
  const channel = hub.channel("in");
  const arrived = channel.waitForMessages(2, signal);
  hub.publish("in", { payload: "a" });
  hub.publish("in", { subject: "s", payload: Uint8Array.of(98), headers: { h: "1" } });
  expect(await arrived).toMatchObject([
    { subject: "in", payload: Uint8Array.of(97) },
    { subject: "s", payload: Uint8Array.of(98), headers: { h: "1" } },
  ]);
  const settled = channel.waitForSettlements(1, signal);
  await (await next(iterate(parts(hub).receiver({})))).settle(ACCEPT);
  expect(await settled).toMatchObject([{ settlement: ACCEPT }]);
});

test("a wait that is aborted rejects with the reason", async () => {
  const reason = new Error("given up");
  const controller = new AbortController();
  const waiting = memoryHub()
    .channel("in")
    .until(() => false, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test("remembers its last settlements only", async () => {
  const hub = memoryHub({ history: 2 });
  const iterator = iterate(parts(hub).receiver({}));
  for (const id of ["a", "b", "c"]) {
    hub.publish("in", { id });
    await (await next(iterator)).settle(ACCEPT);
  }
  expect(hub.channel("in").accepted).toBe(3);
  expect(hub.channel("in").settlements()).toMatchObject([{ message: { id: "b" } }, { message: { id: "c" } }]);
});

test("remembers a megabyte of payloads at most, but always the last settlement", async () => {
  const hub = memoryHub();
  const iterator = iterate(parts(hub).receiver({}));
  const settled = async (id: string, kib: number): Promise<readonly (string | undefined)[]> => {
    hub.publish("in", { id, payload: new Uint8Array(kib * 1024) });
    await (await next(iterator)).settle(ACCEPT);
    return hub
      .channel("in")
      .settlements()
      .map(({ message }) => message.id);
  };
  expect(await settled("a", 512)).toEqual(["a"]);
  expect(await settled("b", 512)).toEqual(["a", "b"]);
  expect(await settled("c", 1)).toEqual(["b", "c"]);
  expect(await settled("d", 2_048)).toEqual(["d"]);
  expect(await settled("e", 1)).toEqual(["e"]);
});

test("without a history it counts settlements and keeps none", async () => {
  const hub = memoryHub({ history: 0 });
  hub.publish("in", { payload: "a" });
  await (await next(iterate(parts(hub).receiver({})))).settle(ACCEPT);
  expect(hub.channel("in").accepted).toBe(1);
  expect(hub.channel("in").settlements()).toEqual([]);
});
