import { join } from "node:path";
import { readFileSync } from "node:fs";
import { freePort } from "@bridge/tooling/listening";
import { describe, expect, test } from "vitest";
import { HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";
import { countsOf, traffic } from "./support/traffic.ts";
import { until } from "./support/until.ts";

const CALLERS = 4;

const document = (target: string, port: number): string => `# The plant's own: ask the shop team first.
${HTTP}bridge:   {id: test}   # as it was
stores: {dlq: {type: file, options: {path: dlq.db}}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:${port}"}}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out]}]
`;

interface Version {
  readonly version: number;
  readonly reverted?: { readonly at: string; readonly why: string; readonly detail?: string };
}

const newest = async (stage: Stage): Promise<Version | undefined> =>
  ((await stage.admin("GET", "/config/history")).body as { versions: readonly Version[] }).versions[0];

/** Puts a whole document on probation; resolves to the end of its time. */
async function tried(stage: Stage, text: string, guard: object): Promise<string> {
  const path = await stage.opened();
  expect(await stage.admin("PUT", `${path}/document`, { text })).toMatchObject({ status: 200 });
  const answer = await stage.admin("POST", `${path}/commit`, { confirm_within: "2m", guard });
  expect(answer).toMatchObject({ status: 200, body: { status: "probation", version: 1, former_version: 0 } });
  return (answer.body as { confirm_by: string }).confirm_by;
}

async function reverted(stage: Stage, confirmBy: string): Promise<Version["reverted"]> {
  let found: Version["reverted"];
  const isReverted = async (): Promise<boolean> => (found = (await newest(stage))?.reverted) !== undefined;
  await until("reverted", isReverted, () => Math.floor(performance.now() / 20_000), 110_000);
  expect(Date.parse(found?.at ?? "")).toBeLessThan(Date.parse(confirmBy));
  return found;
}

describe("a change whose guard is breached comes back by itself", { timeout: 180_000 }, () => {
  test("operators 7: to a target that rejects a tenth, within its window; no message is lost, the document is the same to the byte", async () => {
    await using shop = await Target.open("accepts");
    await using faulty = await Target.open("rejects a tenth");
    const port = await freePort();
    await using stage = await Stage.run(document(shop.url, port));
    const former = readFileSync(join(stage.folder.path, "bridge.yaml"));
    const over = new AbortController();
    const calling = traffic(port, CALLERS, over.signal);
    try {
      await until(
        "begun",
        () => shop.accepted.length > 100,
        () => shop.asked,
      );
      const { text } = (await stage.admin("GET", "/config/document")).body as { text: string };
      const guard = { failure_ratio: 0.05, min_sends: 50 };
      const confirmBy = await tried(stage, text.replace(shop.url, faulty.url), guard);
      const why = await reverted(stage, confirmBy);
      expect(why).toMatchObject({
        why: "failure_ratio",
        detail: expect.stringMatching(/^\d+ of \d+ sends failed$/) as unknown,
      });
      const before = shop.accepted.length;
      await until(
        "sent to the former target again",
        () => shop.accepted.length > before + 100,
        () => shop.asked,
      );
    } finally {
      over.abort();
    }
    const { outcomes } = await calling;
    expect(countsOf(outcomes)).toEqual({ 202: outcomes.length });
    expect(readFileSync(join(stage.folder.path, "bridge.yaml")).equals(former)).toBe(true);
    expect(await stage.admin("POST", "/config/confirm", { version: 1 })).toMatchObject({
      status: 409,
      body: { reason: "reverted" },
    });
    const accepted = [...shop.accepted, ...faulty.accepted];
    expect(new Set(accepted).size + faulty.rejected.length).toBe(outcomes.length);
    const { body } = await stage.admin("GET", "/dlq/summary?by=error_code");
    expect(body).toMatchObject({
      total: faulty.rejected.length,
      groups: [{ key: { error_code: "SCHEMA_VIOLATION" }, count: faulty.rejected.length }],
    });
    expect(faulty.rejected.length).toBeGreaterThan(5);
  });

  test("operators 7: with a session that does not connect, as soon as the level is missed for so long", async () => {
    await using shop = await Target.open("accepts");
    const [port, nobody] = [await freePort(), await freePort()];
    await using stage = await Stage.run(document(shop.url, port));
    const former = readFileSync(join(stage.folder.path, "bridge.yaml"));
    const { text } = (await stage.admin("GET", "/config/document")).body as { text: string };
    const more =
      `${text}sessions: [{id: gone, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:${nobody}"]}}]\n`
        .replace("receivers: [", "receivers: [{id: far, session_id: gone, topics: [{topic: far}]}, ")
        .replace("routes: [", "routes: [{id: second, receiver_id: far, bindings: [to-out]}, ");
    const confirmBy = await tried(stage, more, { level: "full", level_for: "1s" });
    const why = await reverted(stage, confirmBy);
    expect(why).toMatchObject({ why: "level", detail: expect.stringMatching(/^below full for \d+ s$/) as unknown });
    expect(readFileSync(join(stage.folder.path, "bridge.yaml")).equals(former)).toBe(true);
    await stage.health(({ config_watch: watch, ready_for_traffic: ready }) => watch.version === 0 && ready);
    const line = await stage.bridge.logged("a configuration was taken back, and the former one is stored again");
    expect(line).toMatchObject({ config_version: 1, former_version: 0, why: "level" });
  });
});
