import { writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it } from "vitest";
import { sameTlsFiles } from "../src/index.ts";
import { identityOf, readTlsFiles } from "../src/tls-files.ts";
import { hastyClock, open } from "./support.ts";

const files = { certFile: "a.crt", keyFile: "a.key", clientCaFile: "ca.crt" };

describe("TLS files", () => {
  it.each([
    [true, undefined, undefined],
    [true, files, { ...files }],
    [true, { ...files, clientCaFile: undefined }, { certFile: "a.crt", keyFile: "a.key" }],
    [false, files, undefined],
    [false, undefined, files],
    [false, files, { ...files, certFile: "b.crt" }],
    [false, files, { ...files, keyFile: "b.key" }],
    [false, files, { ...files, clientCaFile: "b.crt" }],
    [false, files, { ...files, clientCaFile: undefined }],
  ])("two listeners share them: %s", (same, a, b) => expect(sameTlsFiles(a, b)).toBe(same));

  it.each(["certFile", "keyFile", "clientCaFile"])("the open names the file that is missing: %s", async (which) => {
    using made = certificates("server");
    const tls = {
      certFile: made.path("server.crt"),
      keyFile: made.path("server.key"),
      clientCaFile: made.path("ca.crt"),
      [which]: made.path("missing"),
    };
    await expect(open({ tls })).rejects.toMatchObject({
      message: `${made.path("missing")} cannot be read: ENOENT`,
      cause: { code: "ENOENT" },
    });
  });

  it.each([
    ["certFile", /holds no certificate in PEM form/],
    [
      "keyFile",
      /holds no private key in PEM form: name a file with the private key of the certificate, without a passphrase/,
    ],
    ["clientCaFile", /holds no certificate in PEM form: name a file with the certificates of the authorities/],
  ])("the open names the file that is none of what it should be: %s", async (which, problem) => {
    using made = certificates("server");
    const tls = {
      certFile: made.path("server.crt"),
      keyFile: made.path("server.key"),
      clientCaFile: made.path("ca.crt"),
      [which]: made.path("other"),
    };
    writeFileSync(made.path("other"), "hello");
    const opening = open({ tls });
    await expect(opening).rejects.toThrow(problem);
    await expect(opening).rejects.toThrow(made.path("other"));
  });

  it("the open names the pair of which one does not belong to the other", async () => {
    using made = certificates("server", "other");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("other.key") };
    await expect(open({ tls })).rejects.toThrow(
      `${tls.keyFile} does not belong to the certificate in "${tls.certFile}": name a certificate and its own key`,
    );
  });

  it("files of a mebibyte are read, and nothing beyond", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("large"), keyFile: made.path("server.key") };
    writeFileSync(made.path("large"), "x".repeat(1_048_576));
    expect((await readTlsFiles(tls)).cert).toHaveLength(1_048_576);
    writeFileSync(made.path("large"), "x".repeat(1_048_577));
    await expect(readTlsFiles(tls)).rejects.toThrow(/large cannot be read: it has more than 1048576 bytes/);
  });

  it("nothing older than TLS 1.2 is spoken, also where the platform is told to", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    expect(identityOf(await readTlsFiles(tls), tls).options).toMatchObject({ minVersion: "TLSv1.2" });
  });

  it("clients that know nothing newer than TLS 1.1 are refused and counted", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    await using server = await open({ tls, clock: hastyClock });
    const refused = new Promise((resolve) => {
      connect({
        port: server.port,
        host: "127.0.0.1",
        ca: made.authority.cert,
        minVersion: "TLSv1",
        maxVersion: "TLSv1.1",
        ciphers: "DEFAULT@SECLEVEL=0",
      }).on("error", resolve);
    });
    expect(String(await refused)).toMatch(/protocol version/i);
    await expect.poll(() => server.stats().tls?.handshakesFailed).toBe(1);
  });
});
