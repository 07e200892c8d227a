import { PATIENCE } from "@bridge/tooling/patience";
import { freePort } from "@bridge/tooling/listening";
import { afterAll, describe, expect, test } from "vitest";
import { probe } from "./support/ask.ts";
import { Folder, HTTP } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

describe("finding 1.1: a message cannot hold up the bridge by what a pattern makes of it", () => {
  test("in a filter and in a resolver's rule: it goes where what does not match goes, the next one too, and probes answer", async () => {
    const addr = `127.0.0.1:${await freePort()}`;
    const document = `${HTTP}
bridge: {id: test}
receivers: [{id: in, transport: http, options: {addr: "${addr}"}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:1"}}]
bindings: [{id: to-out, sender_id: out}]
processors: [{id: only, type: filter, options: {drop: {field: subject, op: regex, value: "(x+x+)+y"}}}]
routes:
  - id: only
    receiver_id: in
    processors: [only]
    resolver:
      type: rules
      rules: [{when: [{field: header.topic, op: regex, value: '^in/(\\w+\\s?)+$'}], binding: to-out}]
    bindings: [to-out]
    policy: {on_permanent_failure: drop, on_expired: drop}
`;
    folder.write("bridge.yaml", document);
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    await bridge.logged("bridge started");
    for (const topic of [`in/${"a".repeat(43)}!`, `in/${"a b".repeat(2_000)}!`]) {
      const response = await fetch(`http://${addr}/ingest/in/${"x".repeat(100)}`, {
        method: "POST",
        headers: { topic },
        body: "1",
        signal: AbortSignal.timeout(PATIENCE.timeout),
      });
      expect(response.status).toBe(202);
    }
    expect(await probe(monitor, "live")).toMatchObject({ status: 200 });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test("-validate refuses a pattern that is not linear, with its line, its place and the remedy", async () => {
    const file = folder.write(
      "look-around.yaml",
      [
        "bridge: {id: test}",
        "processors:",
        '  - {id: only, type: filter, options: {keep: {field: subject, op: regex, value: "in/(?!x)"}}}',
      ].join("\n"),
    );
    await using bridge = folder.run(["-validate", "-config", file]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toMatch(
      /look-around\.yaml:3:\d+ processors\[0\]\.options\.keep\.value: .*look-ahead and look-behind are not supported: use a further condition \(character 4\)/,
    );
  });
});
