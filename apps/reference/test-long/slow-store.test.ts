import { tcpProxy } from "@bridge/conformance";
import { freePort } from "@bridge/tooling/listening";
import { noPostgres, POSTGRES_URL, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { eventually, probe } from "../test/support/ask.ts";
import { Folder, HTTP } from "../test/support/folder.ts";
import { Target } from "../test/support/target.ts";
import { until } from "../test/support/until.ts";

/** Of what comes in one turn a try of 3 s takes a part only, and of each message some. */
const LINE = 1024 * 1024;
const MESSAGES = 32;
const BYTES = 256 * 1024;

describe.skipIf(noPostgres)("a bridge whose outbox is at the end of a slow line", () => {
  test("finding 6.7: takes 8 MiB that come in one turn, and delivers them", async () => {
    await using tables = await testSchema();
    const url = new URL(POSTGRES_URL);
    await using proxy = await tcpProxy({ target: { host: url.hostname, port: Number(url.port || 5432) } });
    url.port = String(proxy.port);
    const { schema } = tables.connection;
    const port = await freePort();
    await using target = await Target.open("accepts");
    using folder = new Folder();
    folder.write(
      "bridge.yaml",
      `${HTTP}
bridge: {id: slow}
stores: {outbox: {type: postgres, options: {url: "${url.href}", schema: ${schema}}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:${port}", path: /in, response_timeout: 60s}}]
senders: [{id: out, transport: http, options: {url: "${target.url}"}}]
bindings: [{id: to-out, sender_id: out}]
routes:
  - id: kept
    receiver_id: in
    delivery_mode: shared_outbox
    bindings: [to-out]
    policy: {backoff: {initial_interval: 100ms, max_interval: 1s}, on_permanent_failure: drop, on_expired: drop}
`,
    );
    {
      await using maker = folder.run(["-create-tables", "-config", "bridge.yaml"]);
      expect(await maker.ended).toBe(0);
    }
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => status === 200,
    );
    proxy.rate(LINE);
    const bodies = Array.from({ length: MESSAGES }, (_, i) => `${i}:`.padEnd(BYTES, "x"));
    const answers = await Promise.all(
      bodies.map(async (body, i) => {
        for (;;) {
          const headers = { "Idempotency-Key": `slow-${i}` };
          const answer = await fetch(`http://127.0.0.1:${port}/in`, { method: "POST", body, headers });
          await answer.arrayBuffer();
          if (answer.status !== 503 && answer.status !== 504) return answer.status;
        }
      }),
    );
    expect(answers).toEqual(bodies.map(() => 202));
    await until(
      "all arrived",
      () => new Set(target.accepted).size === MESSAGES,
      () => target.asked,
    );
  });
});
