import { rename } from "node:fs/promises";
import { type Certificates, certificates } from "@bridge/tooling/certificates";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { httpTransport } from "../../src/http-transport.ts";
import { openReceiver } from "../support/open-receiver.ts";
import { buildSender, envelope, never } from "../support/open-sender.ts";

let made: Certificates;
beforeEach(() => (made = certificates("server", "client")));
afterEach(() => made[Symbol.dispose]());

/** A receiver that wants a certificate of its callers. */
async function guarded() {
  const tls = {
    cert_file: made.path("server.crt"),
    key_file: made.path("server.key"),
    client_ca_file: made.path("ca.crt"),
  };
  const source = await openReceiver({ plugin: httpTransport(), options: { tls } });
  return Object.assign(source, { messages: source.acceptAll(), https: source.url.replace("http:", "https:") });
}

describe("an HTTP sender with tls", () => {
  test("trusts the named authority, shows its certificate, and takes a renewed one without a restart", async () => {
    await using source = await guarded();
    const own = { cert_file: made.path("client.crt"), key_file: made.path("later.key") };
    await using sender = await buildSender({ url: source.https, tls: { ca_file: made.path("ca.crt"), ...own } });
    await expect(sender.send(envelope(), "", never())).rejects.toMatchObject({
      code: "CONNECTION_LOST",
      message: expect.stringContaining(`tls.key_file "${own.key_file}" cannot be read: ENOENT`) as string,
    });
    await rename(made.path("client.key"), own.key_file);
    await sender.send(envelope(), "", never());
    expect(source.messages).toHaveLength(1);
  });

  test("without a certificate, or without trust, nothing is sent", async () => {
    await using source = await guarded();
    const ca_file = made.path("ca.crt");
    for (const tls of [
      { ca_file },
      undefined,
      { ca_file: made.path("server.key"), cert_file: ca_file, key_file: ca_file },
    ]) {
      await using sender = await buildSender({ url: source.https, ...(tls !== undefined && { tls }) });
      await expect(sender.send(envelope(), "", never())).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    }
    expect(source.messages).toHaveLength(0);
  });
});
