import { PATIENCE } from "@bridge/tooling/patience";
import { rename, rm, symlink, writeFile } from "node:fs/promises";
import { mkdirSync, writeFileSync } from "node:fs";
import { authority, type Certificates, certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { LastGoodTls } from "../src/last-good-tls.ts";
import { RenewedTls } from "../src/renewed-tls.ts";
import { hastyClock, keepingLogger, nameOfServer, open } from "./support.ts";

function filesOf(made: Certificates) {
  return { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
}

describe("TLS files that are renewed", () => {
  it("new connections get the new certificate; the listener and its open connections stay", async () => {
    using made = certificates("server");
    const logger = keepingLogger();
    await using server = await open({ tls: filesOf(made), clock: hastyClock, logger });
    const ca = made.authority.cert;
    expect(await nameOfServer(server.port, { ca })).toBe("server");
    const renewed = made.authority.issue("renewed");
    await writeFile(made.path("server.key"), renewed.key);
    await writeFile(made.path("server.crt"), renewed.cert);
    await vi.waitFor(async () => expect(await nameOfServer(server.port, { ca })).toBe("renewed"), PATIENCE);
    expect(logger.lines.at(-1)).toBe("info: TLS files renewed");
    expect(server.stats().tls).toMatchObject({ stale: false });
    expect(server.stats().tls?.expiresAt).toBeGreaterThan(Date.now());
  });

  it("a swapped link, as Kubernetes renews its secrets, is seen", async () => {
    using made = certificates("server");
    const folder = (name: string, cert: string, key: string): string => {
      mkdirSync(made.path(name));
      writeFileSync(made.path(`${name}/tls.crt`), cert);
      writeFileSync(made.path(`${name}/tls.key`), key);
      return made.path(name);
    };
    const { authority: issuer } = made;
    const [first, second] = [issuer.issue("first"), issuer.issue("second")];
    await symlink(folder("v1", first.cert, first.key), made.path("data"));
    const tls = { certFile: made.path("data/tls.crt"), keyFile: made.path("data/tls.key") };
    await using server = await open({ tls, clock: hastyClock });
    await symlink(folder("v2", second.cert, second.key), made.path("next"));
    await rename(made.path("next"), made.path("data"));
    await vi.waitFor(async () => expect(await nameOfServer(server.port, { ca: issuer.cert })).toBe("second"), PATIENCE);
  });

  it.each([
    ["a certificate without its key", (made: Certificates) => ({ "server.crt": made.authority.issue("x").cert })],
    ["half a certificate", (made: Certificates) => ({ "server.crt": made.authority.issue("x").cert.slice(0, 300) })],
    ["half a key", (made: Certificates) => ({ "server.key": made.authority.issue("x").key.slice(0, 80) })],
    ["an empty file", () => ({ "server.key": "" })],
    [
      "a chain that breaks off",
      (made: Certificates) => {
        const { cert, key } = made.authority.issue("x");
        return { "server.crt": cert + made.authority.cert.slice(0, 300), "server.key": key };
      },
    ],
  ])("%s keeps the last good pair, says so once, and recovers", async (_, write) => {
    using made = certificates("server");
    const logger = keepingLogger();
    await using server = await open({ tls: filesOf(made), clock: hastyClock, logger });
    const ca = made.authority.cert;
    for (const [file, content] of Object.entries(write(made))) await writeFile(made.path(file), content);
    await vi.waitFor(() => expect(server.stats().tls?.stale).toBe(true), PATIENCE);
    expect(await nameOfServer(server.port, { ca })).toBe("server");
    const good = made.authority.issue("good");
    await writeFile(made.path("server.crt"), good.cert);
    await writeFile(made.path("server.key"), good.key);
    await vi.waitFor(() => expect(server.stats().tls?.stale).toBe(false), PATIENCE);
    expect(await nameOfServer(server.port, { ca })).toBe("good");
    const complaint = "error: TLS files not usable: the last good certificate stays in force";
    expect(logger.lines.filter((line) => line === complaint).length).toBeGreaterThanOrEqual(1);
    expect(logger.lines.length).toBeLessThan(6);
  });
});

describe("a listener that is opened again while its files cannot be used", () => {
  it.each([
    [
      "do not belong together",
      (made: Certificates) => writeFile(made.path("server.crt"), made.authority.issue("x").cert),
    ],
    ["are half there", (made: Certificates) => writeFile(made.path("server.key"), "-----BEGIN")],
    ["are gone", (made: Certificates) => rm(made.path("server.key"))],
  ])("has the pair that was last in force when they %s, says so, and goes on looking", async (_, spoil) => {
    using made = certificates("server");
    const tls = filesOf(made);
    const ca = made.authority.cert;
    const renewed = made.authority.issue("renewed");
    {
      await using first = await open({ tls, clock: hastyClock });
      await writeFile(tls.keyFile, renewed.key);
      await writeFile(tls.certFile, renewed.cert);
      await vi.waitFor(async () => expect(await nameOfServer(first.port, { ca })).toBe("renewed"), PATIENCE);
    }
    await spoil(made);
    const logger = keepingLogger();
    await using second = await open({ tls, clock: hastyClock, logger });
    expect(await nameOfServer(second.port, { ca })).toBe("renewed");
    expect(second.stats().tls?.stale).toBe(true);
    expect(logger.lines[0]).toBe("error: TLS files not usable: the last good certificate stays in force");
    const good = made.authority.issue("good");
    await writeFile(tls.certFile, good.cert);
    await writeFile(tls.keyFile, good.key);
    await vi.waitFor(async () => expect(await nameOfServer(second.port, { ca })).toBe("good"), PATIENCE);
    expect(second.stats().tls?.stale).toBe(false);
  });

  it("is refused when the authority of its clients is another file than before", async () => {
    using made = certificates("server");
    const tls = filesOf(made);
    await using first = await open({ tls, clock: hastyClock });
    expect(first.stats().tls?.stale).toBe(false);
    await writeFile(tls.keyFile, "");
    await writeFile(made.path("clients.crt"), made.authority.cert);
    await expect(open({ tls: { ...tls, clientCaFile: made.path("clients.crt") } })).rejects.toThrow(tls.keyFile);
  });
});

describe("mTLS", () => {
  it("lets in only clients whose certificate is of a named authority, also of a renewed one", async () => {
    using made = certificates("server", "client");
    const tls = { ...filesOf(made), clientCaFile: made.path("clients.crt") };
    await writeFile(tls.clientCaFile, made.authority.cert);
    await using server = await open({ tls, clock: hastyClock });
    const ca = made.authority.cert;
    const known = { ca, cert: made.files["client.crt"], key: made.files["client.key"] };
    const others = authority("others");
    const stranger = { ca, ...others.issue("client") };
    const refused = /certificate required|unknown ca|ECONNRESET|socket hang up|handshake|alert/i;
    expect(await nameOfServer(server.port, known)).toBe("server");
    await expect(nameOfServer(server.port, { ca })).rejects.toThrow(refused);
    await expect(nameOfServer(server.port, stranger)).rejects.toThrow(refused);
    expect(server.stats().tls?.handshakesFailed).toBe(2);
    await writeFile(tls.clientCaFile, others.cert);
    await vi.waitFor(async () => expect(await nameOfServer(server.port, stranger)).toBe("server"), PATIENCE);
    await expect(nameOfServer(server.port, known)).rejects.toThrow(refused);
  });
});

describe("each look at TLS files", () => {
  /** Files that are looked at when a test says so, by a process that has had no others. */
  async function looked(made: Certificates) {
    const [files, logger] = [filesOf(made), keepingLogger()];
    const deps = { clock: hastyClock, logger, lastGood: new LastGoodTls() };
    const tls = await RenewedTls.load(files, deps);
    const inForce = (): string => String(tls.options.cert);
    return { files, logger, deps, tls, inForce };
  }

  it("changes nothing until a second one has seen the same", async () => {
    using made = certificates("server");
    const { files, tls, inForce } = await looked(made);
    const [first, second] = [made.authority.issue("first"), made.authority.issue("second")];
    await tls.look();
    for (const { cert, key } of [first, second]) {
      await writeFile(files.certFile, cert);
      await writeFile(files.keyFile, key);
      await tls.look();
      expect(inForce()).toBe(String(made.files["server.crt"]));
    }
    await tls.look();
    expect([inForce(), tls.stale]).toEqual([second.cert, false]);
    tls[Symbol.dispose]();
  });

  it("tells of the same problem once, until the files in force are back", async () => {
    using made = certificates("server");
    const { files, logger, tls, inForce } = await looked(made);
    for (const problems of [1, 2]) {
      await rm(files.keyFile);
      for (let look = 0; look < 3; look++) await tls.look();
      expect([tls.stale, logger.lines.length]).toEqual([true, problems]);
      await writeFile(files.keyFile, made.files["server.key"] ?? "");
      await tls.look();
      expect([tls.stale, inForce()]).toEqual([false, String(made.files["server.crt"])]);
    }
  });

  it("is not needed for what was in force from the start to be the last good pair", async () => {
    using made = certificates("server");
    const { files, deps } = await looked(made);
    await rm(files.keyFile);
    const again = await RenewedTls.load(files, deps);
    expect([again.stale, String(again.options.cert)]).toEqual([true, String(made.files["server.crt"])]);
  });
});
