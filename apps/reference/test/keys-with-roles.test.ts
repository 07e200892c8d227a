import { afterAll, describe, expect, test } from "vitest";
import { ask, eventually } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { INSIDE } from "./support/documents.ts";
import { ADMIN_KEY, Folder } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const ALICE = "alice-key-0123456789";
const SECOND = "alice-second-0123456789";
const GRAFANA = "grafana-key-0123456789";

const withKeys = (text: string): string =>
  INSIDE.replace(`admin_api_key: ${ADMIN_KEY}}`, `admin_api_key: ${ADMIN_KEY}, api_keys: [${text}]}`);
const OPERATOR = `{id: alice, role: operator, key: "\${file:alice.key}"}`;
const VIEWER = `{id: grafana, role: viewer, key: ${GRAFANA}}`;

async function status(bridge: Binary, key: string, path: string, method = "GET"): Promise<number> {
  const server = path.startsWith("/monitor") ? "monitor" : "admin";
  const headers = { "X-API-Key": key };
  return (await ask(`${await bridge.url(server)}/api/v1${path}`, { method, headers })).status;
}

describe("operators 5.1: keys with roles, on the binary", () => {
  test("open what they say on both servers, change while it runs, and are never shown", async () => {
    folder.write("alice.key", ALICE);
    folder.write("bridge.yaml", withKeys(`${OPERATOR}, ${VIEWER}`));
    await using bridge = folder.run();
    await bridge.logged("bridge started");
    const session = `${await bridge.url("admin")}/api/v1/admin/session`;
    const deepHealth = `${await bridge.url("monitor")}/api/v1/monitor/deephealth`;
    const of = async (key: string): Promise<readonly number[]> => [
      await status(bridge, key, "/monitor/deephealth"),
      await status(bridge, key, "/admin/routes"),
      await status(bridge, key, "/admin/routes/only/pause", "POST"),
      await status(bridge, key, "/admin/config/transactions", "POST"),
    ];
    expect(await of(GRAFANA)).toEqual([200, 200, 403, 403]);
    expect(await of(ALICE)).toEqual([200, 200, 200, 403]);

    // A browser's session of the key, with a stream.
    const signedIn = await fetch(session, { method: "POST", headers: { "X-API-Key": ALICE } });
    expect(await signedIn.json()).toMatchObject({
      actor: "alice",
      role: "operator",
      version: expect.any(String) as string,
    });
    const headers = { Cookie: signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
    expect((await ask(session, { headers })).status).toBe(200);
    const stream = await fetch(session.replace("session", "events?topics=jobs"), { headers });

    // Only the file behind the reference is another one.
    folder.write("alice.key", SECOND);
    bridge.kill("SIGHUP");
    await eventually(
      () => ask(session, { headers: { "X-API-Key": SECOND } }),
      ({ status: answered }) => answered === 200,
    );
    expect(await of(ALICE)).toEqual([401, 401, 401, 401]);
    expect((await ask(session, { headers })).status).toBe(401);
    expect(await stream.text()).toMatch(/event: bye\ndata: {"why":"key"}\n\n$/);

    // A key that was taken away, over the document.
    folder.write("bridge.yaml", withKeys(OPERATOR));
    await eventually(
      () => ask(deepHealth, { headers: { "X-API-Key": GRAFANA } }),
      ({ status: answered }) => answered === 401,
    );
    const health = await ask(deepHealth);
    expect(JSON.stringify(health.body)).not.toContain("restart_required");
    const config = await ask(`${await bridge.url("admin")}/api/v1/admin/config`);
    expect(JSON.stringify(config.body)).toContain('"id":"alice"');
    for (const secret of [ALICE, SECOND, GRAFANA]) {
      expect(JSON.stringify(config.body)).not.toContain(secret);
      expect(bridge.stderr).not.toContain(secret);
    }
  });
});
