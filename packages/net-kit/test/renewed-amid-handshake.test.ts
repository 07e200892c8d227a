import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { hastyClock, nameOfServer, open } from "./support.ts";

/** Passes on both ways, but for the client's first words only so many bytes until it is let go. */
async function holding(port: number, bytes: number) {
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.once("data", (first: Buffer) => {
      client.pause();
      upstream.write(first.subarray(0, bytes), () => held.resolve());
      void release.promise.then(() => {
        upstream.write(first.subarray(bytes));
        client.pipe(upstream).pipe(client);
      });
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    held: held.promise,
    release: release.resolve,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe("a handshake that is under way while the files of its server", () => {
  it.each([0, 1, 5, 60, Infinity])(
    "are renewed, and then spoiled, ends with a certificate and the key to it: after %s bytes of it",
    async (bytes) => {
      using made = certificates("first");
      const tls = { certFile: made.path("first.crt"), keyFile: made.path("first.key") };
      const ca = made.authority.cert;
      await using server = await open({ tls, clock: hastyClock });
      using early = await holding(server.port, bytes);
      const beforeAll = nameOfServer(early.port, { ca });
      await early.held;
      const { cert, key } = made.authority.issue("second");
      await writeFile(tls.certFile, cert);
      await writeFile(tls.keyFile, key);
      await vi.waitFor(async () => expect(await nameOfServer(server.port, { ca })).toBe("second"), PATIENCE);
      using late = await holding(server.port, bytes);
      const beforeSpoiled = nameOfServer(late.port, { ca });
      await late.held;
      await writeFile(tls.keyFile, "-----BEGIN");
      await vi.waitFor(() => expect(server.stats().tls?.stale).toBe(true), PATIENCE);
      early.release();
      late.release();
      expect(await beforeAll).toMatch(/^(first|second)$/);
      expect(await beforeSpoiled).toBe("second");
      expect(server.stats().tls?.handshakesFailed).toBe(0);
    },
  );
});
