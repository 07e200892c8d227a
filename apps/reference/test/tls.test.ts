import { PATIENCE } from "@bridge/tooling/patience";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { certificates } from "@bridge/tooling/certificates";
import { freePort } from "@bridge/tooling/listening";
import { afterAll, describe, expect, test, vi } from "vitest";
import { INSIDE } from "./support/documents.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

function get(url: string, ca: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "X-API-Key": ADMIN_KEY };
    request(url.replace("127.0.0.1", "localhost"), { ca, headers, agent: false, family: 4 }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on("error", reject)
      .end();
  });
}

describe("spec 1.7: http.tls_cert_file and http.tls_key_file", () => {
  test("switch both servers to TLS, and the metrics say until when the certificate is good", async () => {
    using made = certificates("server", "other");
    const tls = (key: string): string =>
      `, tls_cert_file: "${made.path("server.crt")}", tls_key_file: "${made.path(key)}"}`;
    const { cert } = made.authority;
    folder.write("bridge.yaml", INSIDE.replace(HTTP, HTTP.replace("}", tls("server.key"))));
    await using bridge = folder.run();
    const [admin, monitor] = [await bridge.url("admin"), await bridge.url("monitor")];
    expect([admin, monitor].map((url) => new URL(url).protocol)).toEqual(["https:", "https:"]);
    expect(await get(`${monitor}/api/v1/monitor/live`, cert)).toEqual({ status: 200, text: '{"status":"alive"}' });
    expect(await get(`${admin}/api/v1/admin/routes`, cert)).toMatchObject({ status: 200 });
    const { text } = await get(`${monitor}/api/v1/monitor/metrics`, cert);
    expect(text).toMatch(/^bridge_server_tls_expires_timestamp_seconds\{server="admin"\} \d{10}$/m);
    expect(text).toMatch(/^bridge_server_tls_stale\{server="monitor"\} 0$/m);
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test("a key of another certificate keeps the bridge from starting, by name", async () => {
    using made = certificates("server", "other");
    const files = `, tls_cert_file: "${made.path("server.crt")}", tls_key_file: "${made.path("other.key")}"}`;
    folder.write("wrong.yaml", INSIDE.replace(HTTP, HTTP.replace("}", files)));
    await using bridge = folder.run(["-config", "wrong.yaml"]);
    expect(await bridge.ended).toBe(1);
    const said = `${made.path("other.key")} does not belong to the certificate in "${made.path("server.crt")}"`;
    expect(bridge.log.some(({ error }) => String(error).includes(said))).toBe(true);
  });
});

describe("a receiver with TLS that changes amid a renewal", () => {
  test("is opened again with the pair that was in force, when only the new certificate is there", async () => {
    using made = certificates("server");
    const { cert } = made.authority;
    const port = await freePort();
    const document = (maxBody: number): string =>
      INSIDE.replace(
        "{id: in, transport: memory, options: {channel: in}}",
        `{id: in, transport: http, options: {addr: "127.0.0.1:${port}", max_body: ${maxBody}, tls: {cert_file: "${made.path("server.crt")}", key_file: "${made.path("server.key")}"}}}`,
      );
    folder.write("renewed.yaml", document(1_000));
    await using bridge = folder.run(["-config", "renewed.yaml"]);
    await bridge.logged("bridge started");
    const ask = () => get(`https://127.0.0.1:${port}/`, cert);
    expect(await ask()).toMatchObject({ status: 404 });
    writeFileSync(made.path("server.crt"), made.authority.issue("server").cert);
    folder.write("renewed.yaml", document(2_000));
    await bridge.logged("TLS files not usable: the last good certificate stays in force");
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ status: 404 }), PATIENCE);
    expect(bridge.stderr).not.toContain("beyond recovery");
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });
});
