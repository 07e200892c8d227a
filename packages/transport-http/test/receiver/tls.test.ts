import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, test } from "vitest";
import { Agent, request } from "undici";
import { httpTransport } from "../../src/http-transport.ts";
import { buildReceiver, openReceiver, textOf } from "../support/open-receiver.ts";

function post(url: string, connect: object): Promise<number> {
  const dispatcher = new Agent({ connect });
  return request(url.replace("http://127.0.0.1", "https://localhost"), { method: "POST", body: "x", dispatcher })
    .then(async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    })
    .finally(() => void dispatcher.destroy());
}

describe("an HTTP receiver with TLS", () => {
  test("takes messages from callers that trust it, and counts what fails", async () => {
    using made = certificates("server");
    const tls = { cert_file: made.path("server.crt"), key_file: made.path("server.key") };
    await using source = await openReceiver({ options: { tls } });
    const messages = source.acceptAll();
    expect(await post(source.url, { ca: made.authority.cert })).toBe(202);
    expect(messages.map(textOf)).toEqual(["x"]);
    await expect(post(source.url, {})).rejects.toThrow(/certificate/);
    await expect.poll(() => source.receiver.counters?.()).toMatchObject({ tlsStale: 0, tlsHandshakesFailed: 1 });
    expect(source.receiver.counters?.()["tlsExpiresAt"]).toBeGreaterThan(Date.now() / 1_000);
  });

  test("with client_ca_file lets in only callers with a certificate, and needs no key beyond loopback", async () => {
    using made = certificates("server", "client");
    const tls = {
      cert_file: made.path("server.crt"),
      key_file: made.path("server.key"),
      client_ca_file: made.path("ca.crt"),
    };
    await using source = await openReceiver({ options: { tls, addr: ":0" } });
    const messages = source.acceptAll();
    const ca = made.authority.cert;
    const own = { cert: made.files["client.crt"], key: made.files["client.key"] };
    expect(await post(source.url, { ca, ...own })).toBe(202);
    await expect(post(source.url, { ca })).rejects.toThrow(/certificate required|closed|reset|socket/i);
    expect(messages).toHaveLength(1);
  });

  test("receivers of one address have the same tls options", async () => {
    using made = certificates("server", "other");
    const tls = { cert_file: made.path("server.crt"), key_file: made.path("server.key") };
    const plugin = httpTransport();
    await using first = await openReceiver({ plugin, id: "first", options: { tls } });
    first.acceptAll();
    const others = [
      undefined,
      { cert_file: made.path("other.crt"), key_file: made.path("other.key") },
      { ...tls, client_ca_file: made.path("ca.crt") },
    ];
    for (const other of others) {
      const options = { ...(other !== undefined && { tls: other }) };
      await expect(openReceiver({ plugin, id: "second", options })).rejects.toThrow(
        'receiver "second": 127.0.0.1:0 is shared with a receiver that has other tls options',
      );
    }
    await using third = await openReceiver({ plugin, id: "third", options: { tls } });
    third.acceptAll();
    expect(await post(third.url, { ca: made.authority.cert })).toBe(202);
  });

  test("a file that cannot be used keeps it from opening, by name", async () => {
    using made = certificates("server");
    const tls = { cert_file: made.path("server.crt"), key_file: made.path("absent.key") };
    await expect(openReceiver({ options: { tls } })).rejects.toThrow(
      `cannot listen on 127.0.0.1:0: ${tls.key_file} cannot be read: ENOENT`,
    );
  });

  test.for([
    [{ cert_file: "a.crt" }, /key_file/],
    [{ key_file: "a.key" }, /cert_file/],
    [{ cert_file: "a.crt", key_file: "a.key", ca_file: "ca.crt" }, /ca_file/],
    [{ cert_file: "", key_file: "a.key" }, /empty/],
  ] as const)("%o is refused", async ([tls, why]) => {
    await expect(buildReceiver(httpTransport(), "in", { tls })).rejects.toThrow(why);
  });
});
