import { setImmediate as turn } from "node:timers/promises";
import { BridgeError, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { Msg } from "@nats-io/transport-node";
import { like } from "./support/like.ts";
import { connected, envelope, never, sender, session } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { noServer } from "./support/server.ts";

const bytes = (size: number): Uint8Array => new Uint8Array(size);

describe.skipIf(noServer)("a sender (needs NATS)", () => {
  test("the deduplication id is the server's: a repeat is taken and not kept", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using target = session({ role: "target" });
    await connected(target);
    const out = sender(target);
    const headers = { [RESERVED.dedupId]: "order-7" };
    for (const id of ["a", "b"]) await out.send(envelope({ id, headers }), `${stream}.a`, never);
    const { state } = await server.manager.streams.info(stream);
    expect(state.messages).toBe(1);
    expect(target.counters?.()).toEqual({ unanswered: 0, duplicates: 1 });
    const { header } = (await server.manager.streams.getMessage(stream, { seq: 1 }))!;
    expect([header.get("Nats-Msg-Id"), header.get("message-id")]).toEqual(["order-7", "a"]);
  });

  test("a repeat is one of its subject: the same for another subject of the stream is kept, under no id", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using target = session({ role: "target" });
    await connected(target);
    const out = sender(target);
    const one = envelope({ headers: { [RESERVED.dedupId]: "order-7", site: "north" } });
    for (const subject of ["a", "b", "a"]) await out.send(one, `${stream}.${subject}`, never);
    const subjects = Array.from({ length: 2 }, async (_, index) => {
      const message = await server.manager.streams.getMessage(stream, { seq: index + 1 });
      return [message?.subject, message?.header.get("Nats-Msg-Id"), message?.header.get("site")];
    });
    expect(await Promise.all(subjects)).toEqual([
      [`${stream}.a`, "order-7", "north"],
      [`${stream}.b`, "", "north"],
    ]);
    expect((await server.manager.streams.info(stream)).state.messages).toBe(2);
    expect(target.counters?.()).toEqual({ unanswered: 0, duplicates: 1 });
  });

  test("a repeat of what has left the stream meanwhile is taken for one", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using target = session({ role: "target" });
    await connected(target);
    const one = envelope({ headers: { [RESERVED.dedupId]: "order-7" } });
    await sender(target).send(one, `${stream}.a`, never);
    await server.manager.streams.purge(stream);
    await sender(target).send(one, `${stream}.a`, never);
    expect((await server.manager.streams.info(stream)).state.messages).toBe(0);
  });

  test("what no stream takes is DESTINATION_NOT_FOUND", async () => {
    await using target = session({ role: "target" });
    await connected(target);
    await expect(sender(target).send(envelope(), "bridge-test-nowhere.a", never)).rejects.toMatchObject({
      code: "DESTINATION_NOT_FOUND",
      message: "no stream takes messages of this subject",
    });
  });

  test("what another stream takes than the one expected is DESTINATION_NOT_FOUND, and not kept", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using target = session({ role: "target" });
    await connected(target);
    await sender(target, { stream }).send(envelope(), `${stream}.a`, never);
    await expect(sender(target, { stream: "other" }).send(envelope(), `${stream}.a`, never)).rejects.toMatchObject({
      code: "DESTINATION_NOT_FOUND",
      message: like(/400 \(10060\)/),
    });
    expect((await server.manager.streams.info(stream)).state.messages).toBe(1);
  });

  test.each([
    ["nothing", {}, {}, "no stream of JetStream"],
    ["no name of a stream", { stream: "", seq: 1 }, {}, "no stream of JetStream"],
    ["no place in a stream", { stream: "ORDERS", seq: 0 }, {}, "no stream of JetStream"],
    ["another stream than its sender's", { stream: "ORDERS", seq: 1 }, { stream: "OTHERS" }, 'by "ORDERS", and not by'],
  ])("what answers with %s has not taken the message", async (_name, answer, options, why) => {
    await using server = await program();
    const subject = `bridge-test-${crypto.randomUUID()}`;
    const callback = (_: unknown, message: Msg): void => void message.respond(JSON.stringify(answer));
    server.connection.subscribe(subject, { callback });
    await server.connection.flush();
    await using target = session({ role: "target" });
    await connected(target);
    await expect(sender(target, options).send(envelope(), subject, never)).rejects.toMatchObject({
      code: "DESTINATION_NOT_FOUND",
      message: like(why),
    });
  });

  test("what is too large for the server, headers included, is refused before it is sent", async () => {
    await using server = await program();
    const stream = await server.stream();
    const limit = server.connection.info!.max_payload;
    await using target = session({ role: "target" });
    const connection = await connected(target);
    const out = sender(target);
    await expect(out.send(envelope({ payload: bytes(limit) }), `${stream}.a`, never)).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: like(`the server takes ${limit}`),
    });
    await out.send(envelope({ payload: bytes(limit - 1_000) }), `${stream}.a`, never);
    await connection[Symbol.asyncDispose]();
    expect(await connection.closed).toBeUndefined();
  });

  test("what is too large for the stream, or has no room in it, says so", async () => {
    await using server = await program();
    const small = await server.stream({ max_msg_size: 1_000 });
    const full = await server.stream({ max_msgs: 1, discard: "new" });
    await using target = session({ role: "target" });
    await connected(target);
    const out = sender(target);
    await expect(out.send(envelope({ payload: bytes(2_000) }), `${small}.a`, never)).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    });
    await out.send(envelope(), `${full}.a`, never);
    await expect(out.send(envelope(), `${full}.a`, never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: like("maximum messages exceeded"),
    });
  });

  test.each(["", "a..b", "a.*", "a b", `a.${"b".repeat(4_000)}`])(
    "an address that is no subject: %j",
    async (address) => {
      await using target = session({ role: "target" });
      await connected(target);
      await expect(sender(target).send(envelope(), address, never)).rejects.toMatchObject({
        code: "BINDING_UNRESOLVED",
      });
    },
  );

  test("finding 1.6: a value in an address makes no pattern of it, and does not reach the server's own subjects", async () => {
    await using target = session({ role: "target" });
    const { addressing } = sender(target);
    expect(addressing?.separator).toBe(".");
    expect(addressing?.fill("eu.berlin", "orders.")).toBe("eu.berlin");
    for (const [value, before] of [
      ["*", "a."],
      ["a.>", "a."],
      ["a b", "a."],
      ["a\u0000b", "a."],
      ["a\u0085b", "a."],
      ["$JS.API.STREAM.DELETE.S", ""],
    ] as const)
      expect(() => addressing?.fill(value, before)).toThrow(BridgeError);
  });

  test("what is given up is forgotten, and a late answer to it is nobody's", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using target = session({ role: "target" });
    await connected(target);
    const out = sender(target);
    for (const written of [false, true]) {
      const controller = new AbortController();
      const sent = out.send(envelope({ id: `written: ${written}` }), `${stream}.a`, controller.signal);
      sent.catch(() => {});
      if (written) await turn();
      controller.abort(new Error("given up"));
      await expect(sent).rejects.toThrow("given up");
      expect(target.counters?.()).toEqual({ unanswered: 0, duplicates: 0 });
    }
    await out.send(envelope(), `${stream}.a`, never);
    expect((await server.manager.streams.info(stream)).state.messages).toBe(2);
    const { header } = (await server.manager.streams.getMessage(stream, { seq: 1 }))!;
    expect(header.get("message-id")).toBe("written: true");
  });

  test("what the connection's end interrupts was tried only if it was written", async () => {
    await using server = await program();
    const stream = await server.stream();
    await using target = session({ role: "target" });
    await connected(target);
    const out = sender(target);
    const written = out.send(envelope(), `${stream}.a`, never);
    await turn();
    const given = out.send(envelope(), `${stream}.a`, never);
    const outcomes = Promise.allSettled([written, given]);
    await target[Symbol.asyncDispose]();
    expect((await outcomes).map((outcome) => (outcome.status === "rejected" ? outcome.reason : outcome))).toMatchObject(
      [
        { code: "CONNECTION_LOST", charged: true },
        { code: "CONNECTION_LOST", charged: false },
      ],
    );
  });
});
