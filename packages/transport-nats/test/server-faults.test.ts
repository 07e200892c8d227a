import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { like } from "./support/like.ts";
import { type OwnServer, ownServer } from "./support/own-server.ts";
import { accept, connected, envelope, never, Puller, receiver, sender, session, text } from "./support/parts.ts";
import { type Program, program } from "./support/program.ts";
import { noServer } from "./support/server.ts";

const LOST = { code: "CONNECTION_LOST" };

describe.skipIf(noServer)("a server that fails (needs NATS)", () => {
  let server: OwnServer;
  let peer: Program;

  beforeAll(async () => {
    server = await ownServer();
  });

  beforeEach(async () => {
    await server.start();
    peer = await program(server.port);
  });

  afterEach(() => peer[Symbol.asyncDispose]());

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test("is killed and started again: what was not settled comes again, what was settled and sent is kept", async () => {
    const stream = await peer.stream();
    const consumer = await peer.consumer(stream, { ack_wait: 1e9 });
    for (const payload of ["a", "b", "c"]) await peer.publish(`${stream}.a`, payload);
    await using source = session({ port: server.port });
    await using target = session({ port: server.port, role: "target" });
    const puller = new Puller(receiver(source, { stream, consumer }));
    const [first, firstTarget] = [await connected(source), await connected(target)];
    const [a, b, c] = await puller.take(3);
    await accept(b!);
    const out = sender(target);
    await out.send(envelope({ id: "kept" }), `${stream}.kept`, never);
    await peer.connection.flush();
    await server.kill();
    expect(await first.closed).toMatchObject(LOST);
    expect(await firstTarget.closed).toMatchObject(LOST);
    expect(a!.signal?.aborted).toBe(true);
    await expect(accept(a!)).rejects.toMatchObject(LOST);
    await expect(out.send(envelope(), `${stream}.a`, never)).rejects.toMatchObject({ ...LOST, charged: false });
    await expect(source.connect(never)).rejects.toMatchObject(LOST);

    await server.start();
    await connected(target);
    await connected(source);
    // The old ones are of no use on the new connection either.
    await expect(accept(c!)).rejects.toMatchObject(LOST);
    const missing = new Set(["a", "c", "payload"]);
    while (missing.size > 0) {
      const delivery = await puller.next();
      // A server that is killed may have forgotten what was settled right before.
      expect(["a", "b", "c", "payload"]).toContain(text(delivery));
      missing.delete(text(delivery));
      await accept(delivery);
    }
    await out.send(envelope(), `${stream}.a`, never);
    expect(text(await puller.next())).toBe("payload");
  });

  test.each(["source", "target"] as const)(
    "is frozen behind an open connection: the %s notices within three pings, whatever is under way",
    async (role) => {
      const stream = await peer.stream();
      const consumer = await peer.consumer(stream, { ack_wait: 1e9 });
      await using half = session({ port: server.port, role, options: { ping_interval: "500ms" } });
      const puller = role === "source" ? new Puller(receiver(half, { stream, consumer })) : undefined;
      const connection = await connected(half);
      await peer.publish(`${stream}.a`, "a");
      const held = await puller?.next();
      server.freeze();
      const begun = performance.now();
      try {
        // More than a socket takes: nothing that waits for it to be written may keep us.
        const payload = new Uint8Array(1_000_000);
        const sends =
          role === "target"
            ? Array.from({ length: 16 }, () => sender(half).send(envelope({ payload }), `${stream}.a`, never))
            : [];
        const results = Promise.allSettled(sends);
        expect(await connection.closed).toMatchObject({ ...LOST, message: like("silent for too long") });
        expect(performance.now() - begun).toBeLessThan(10_000);
        for (const result of await results) expect(result).toMatchObject({ reason: LOST });
        if (held !== undefined) await expect(accept(held)).rejects.toMatchObject(LOST);
        await connection[Symbol.asyncDispose]();
      } finally {
        server.thaw();
      }
      await connected(half);
      if (puller !== undefined) expect(text(await puller.next())).toBe("a");
    },
  );

  test("is frozen when we leave: disposing does not wait for it", async () => {
    const stream = await peer.stream();
    await using source = session({ port: server.port });
    receiver(source, { stream, consumer: await peer.consumer(stream) });
    const connection = await connected(source);
    const begun = performance.now();
    server.freeze();
    try {
      await connection[Symbol.asyncDispose]();
      expect(await connection.closed).toBeUndefined();
      expect(performance.now() - begun).toBeLessThan(5_000);
    } finally {
      server.thaw();
    }
  });

  test("is frozen when we come: an attempt ends in time, and leaves no socket open", async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    await peer.connection.flush();
    await using source = session({ port: server.port, options: { connect_timeout: "300ms" } });
    const before = sockets();
    server.freeze();
    try {
      await expect(source.connect(never)).rejects.toMatchObject({ code: "TIMEOUT" });
      await sleep(0);
      expect(sockets()).toBe(before);
    } finally {
      server.thaw();
    }
  });
});
