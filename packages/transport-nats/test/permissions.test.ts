import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test, vi } from "vitest";
import { containing, like } from "./support/like.ts";
import { ownServer } from "./support/own-server.ts";
import {
  accept,
  connected,
  envelope,
  type LogLine,
  never,
  Puller,
  receiver,
  sender,
  session,
  text,
} from "./support/parts.ts";
import { program } from "./support/program.ts";
import { noServer } from "./support/server.ts";

const PASSWORD = "hunter22";

describe.skipIf(noServer)("permissions (needs NATS)", () => {
  const user = (permissions: string) =>
    `authorization { users: [{ user: admin, password: a }, { user: bridge, password: ${PASSWORD}, permissions: ${permissions} }] }`;
  const options = { username: "bridge", password: PASSWORD };

  test("to publish that are missing fail the message as FORBIDDEN, and the others go on", async () => {
    await using server = await ownServer([user(`{ publish: ["ok.>"], subscribe: ["_INBOX.>"] }`)]);
    await using admin = await program(server.port, { user: "admin", pass: "a" });
    await admin.stream({ subjects: ["ok.>", "no.>"] });
    await using target = session({ port: server.port, role: "target", options });
    const connection = await connected(target);
    const out = sender(target);
    const [denied, allowed] = await Promise.allSettled(
      ["no.a", "ok.a"].map((subject) => out.send(envelope(), subject, never)),
    );
    expect(denied).toMatchObject({ reason: { code: "FORBIDDEN" } });
    expect(allowed).toMatchObject({ status: "fulfilled" });
    // It may not ask which stream a subject has either.
    await expect(out.send(envelope(), "ok.b", never)).resolves.toBeUndefined();
    await admin.manager.streams.delete((await admin.manager.streams.names().next())[0]!);
    await expect(out.send(envelope(), "ok.c", never)).rejects.toMatchObject({
      code: "DESTINATION_NOT_FOUND",
      message: like("as far as the bridge may ask"),
    });
    await connection[Symbol.asyncDispose]();
  });

  test("to listen are those of inbox_prefix", async () => {
    const api = `"$JS.API.CONSUMER.INFO.S.c", "$JS.API.CONSUMER.MSG.NEXT.S.c", "$JS.ACK.S.c.>"`;
    await using server = await ownServer([user(`{ publish: ["ok.>", ${api}], subscribe: ["_bridge.>"] }`)]);
    await using admin = await program(server.port, { user: "admin", pass: "a" });
    await admin.stream({ name: "S", subjects: ["ok.>"] });
    await admin.consumer("S");
    const log: LogLine[] = [];
    await using wrong = session({ port: server.port, role: "target", options });
    await expect(wrong.connect(never)).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: like("may not listen for the server's answers on _INBOX\\."),
    });
    await expect(sender(wrong).send(envelope(), "ok.a", never)).rejects.toMatchObject({
      code: "CONNECTION_LOST",
      charged: false,
    });
    await using source = session({ port: server.port, options, log });
    receiver(source, { stream: "S", consumer: "c" });
    const connection = await source.connect(never);
    expect([...(await connection.reconcile(never))]).toEqual([]);
    expect(log.map(({ message }) => message)).toContain("a stream cannot be consumed");

    const right = { ...options, inbox_prefix: "_bridge" };
    await using target = session({ port: server.port, role: "target", options: right });
    await connected(target);
    await sender(target).send(envelope(), "ok.a", never);
    await using consuming = session({ port: server.port, options: right });
    receiver(consuming, { stream: "S", consumer: "c" });
    expect([...(await (await consuming.connect(never)).reconcile(never))]).toEqual(["in"]);
  });

  test("to listen that are taken away end the connection, and cost no message; given back, it goes on", async () => {
    const allowing = (more: string) => user(`{ publish: [">"], subscribe: { allow: ["_INBOX.>"]${more} } }`);
    await using server = await ownServer([allowing("")]);
    await using admin = await program(server.port, { user: "admin", pass: "a" });
    await admin.stream({ subjects: ["ok.>"] });
    await using target = session({ port: server.port, role: "target", options });
    const connection = await connected(target);
    await sender(target).send(envelope(), "ok.a", never);
    await server.configure([allowing(`, deny: ["_INBOX.>"]`)]);
    server.reload();
    expect(await connection.closed).toMatchObject({ code: "FORBIDDEN", message: like("on _INBOX\\.") });
    await expect(sender(target).send(envelope(), "ok.a", never)).rejects.toMatchObject({ charged: false });
    await expect(target.connect(never)).rejects.toMatchObject({ code: "FORBIDDEN" });
    await server.configure([allowing("")]);
    server.reload();
    await vi.waitFor(() => connected(target), PATIENCE);
    await sender(target).send(envelope(), "ok.a", never);
  });

  test.each(["$JS.API.CONSUMER.MSG.NEXT.S.c", "$JS.ACK.S.c.>"])(
    "to publish to %s that are missing keep a receiver from consuming until they are there",
    async (needed) => {
      const all = ["$JS.API.CONSUMER.INFO.S.c", "$JS.API.CONSUMER.MSG.NEXT.S.c", "$JS.ACK.S.c.>"];
      const allowing = (subjects: readonly string[]) =>
        user(`{ publish: ${JSON.stringify(subjects)}, subscribe: ["_INBOX.>"] }`);
      await using server = await ownServer([allowing(all.filter((subject) => subject !== needed))]);
      {
        await using admin = await program(server.port, { user: "admin", pass: "a" });
        await admin.manager.streams.add({ name: "S", subjects: ["ok.>"] });
        await admin.consumer("S");
        for (const payload of ["a", "b", "c"]) await admin.publish("ok.a", payload);
      }
      const log: LogLine[] = [];
      await using source = session({ port: server.port, options, log });
      const puller = new Puller(receiver(source, { stream: "S", consumer: "c" }));
      let connection = await source.connect(never);
      if (needed.startsWith("$JS.ACK")) {
        // Only a message shows it.
        expect([...(await connection.reconcile(never))]).toEqual(["in"]);
        await Promise.allSettled((await puller.take(3)).map(accept));
        expect(await connection.closed).toMatchObject({
          code: "FORBIDDEN",
          message: like(needed.replaceAll("$", "\\$")),
        });
        connection = await source.connect(never);
      }
      for (let i = 0; i < 2; i++) expect([...(await connection.reconcile(never))]).toEqual([]);
      const fields = containing({ code: "FORBIDDEN", error: like(needed.replaceAll("$", "\\$")) });
      expect(log).toEqual([{ message: "a stream cannot be consumed", fields }]);

      await server.kill();
      await connection.closed;
      await server.configure([allowing(all)]);
      await server.start();
      await connected(source);
      await using admin = await program(server.port, { user: "admin", pass: "a" });
      await admin.publish("ok.a", "d");
      for (;;) {
        const delivery = await puller.next();
        await accept(delivery);
        if (text(delivery) === "d") break;
      }
      // What could not be settled waits for its time to be over.
      const pending = needed.startsWith("$JS.ACK") ? 3 : 0;
      await vi.waitFor(
        async () => expect(await admin.manager.consumers.info("S", "c")).toMatchObject({ num_ack_pending: pending }),
        PATIENCE,
      );
    },
  );

  test.each([
    [{ consumer: "c", create: true }, ["CONSUMER.INFO.S.c", "CONSUMER.CREATE.S.c", "CONSUMER.MSG.NEXT.S.c"]],
    [
      { consumer: "c", create: true, filter_subject: "ok.a" },
      ["CONSUMER.INFO.S.c", "CONSUMER.CREATE.S.c.ok.a", "CONSUMER.MSG.NEXT.S.c"],
    ],
    [
      {},
      ["STREAM.INFO.S", "CONSUMER.CREATE.S", ...["INFO", "DELETE", "MSG.NEXT"].map((verb) => `CONSUMER.${verb}.S.*`)],
    ],
  ])("are enough to consume as the guarantees list them (%j)", async (more, api) => {
    const subjects = JSON.stringify(["$JS.ACK.S.*.>", ...api.map((subject) => `$JS.API.${subject}`)]);
    await using server = await ownServer([user(`{ publish: ${subjects}, subscribe: ["_INBOX.>"] }`)]);
    await using admin = await program(server.port, { user: "admin", pass: "a" });
    await admin.stream({ name: "S", subjects: ["ok.>"] });
    await admin.publish("ok.a", "a");
    const log: LogLine[] = [];
    await using source = session({ port: server.port, options, log });
    const puller = new Puller(receiver(source, { stream: "S", ...more }));
    const connection = await connected(source);
    await accept(await puller.next());
    await connection[Symbol.asyncDispose]();
    expect(log).toEqual([]);
  });

  test("that an ephemeral consumer lacks are told once, though it has another name each time", async () => {
    const api = ["STREAM.INFO.S", "CONSUMER.CREATE.S", "CONSUMER.INFO.S.*", "CONSUMER.DELETE.S.*"];
    const subjects = JSON.stringify(api.map((subject) => `$JS.API.${subject}`));
    await using server = await ownServer([user(`{ publish: ${subjects}, subscribe: ["_INBOX.>"] }`)]);
    await using admin = await program(server.port, { user: "admin", pass: "a" });
    await admin.stream({ name: "S", subjects: ["ok.>"] });
    const log: LogLine[] = [];
    await using source = session({ port: server.port, options, log });
    receiver(source, { stream: "S" });
    const connection = await source.connect(never);
    for (let i = 0; i < 3; i++) expect([...(await connection.reconcile(never))]).toEqual([]);
    const fields = containing({ error: like(/ publish to \$JS\.API\.CONSUMER\.MSG\.NEXT\.S\.\*,/) });
    expect(log).toEqual([{ message: "a stream cannot be consumed", fields }]);
  });
});
