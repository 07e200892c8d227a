import { expect, test } from "vitest";
import { eventually } from "./support/ask.ts";
import { HTTP } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { Target } from "./support/target.ts";

/** One route to a target where nobody listens, with its outbox in a file. */
const waiting = (outbox: string, route = "only", mode = "shared_outbox"): string => `${HTTP}
bridge: {id: test}
stores: {outbox: ${outbox}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0"}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:9"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: ${route}, receiver_id: in, delivery_mode: ${mode}, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop, max_replay_attempts: 1000}}]
`;

const HERE = "{type: file, options: {path: here.db}}";
const THERE = "{type: file, options: {path: there.db}}";
const LEFT = [{ route_id: "only", binding_id: "to-out", waiting: 1 }];

test("finding 4.1: the binary refuses a file and a commit that would leave messages behind, with the same words, and takes the file that says so", async () => {
  await using stage = await Stage.run(waiting(HERE));
  void stage.admin("POST", "/routes/only/inject", { subject: "s", payload: "aGk=" }).catch(() => {});
  await eventually(
    () => stage.admin("GET", "/outbox"),
    ({ body }) => (body as { depth?: number }).depth === 1,
  );
  const refused = await stage.commit({ routes: [{ id: "only", delivery_mode: "direct_hold" }] });
  expect(refused).toMatchObject({ status: 422, body: { stranded: [{ store: "outbox", ...LEFT[0] }] } });
  const { error } = refused.body as { error: string };
  expect(error).toContain("stores.outbox.abandon_backlog: true");
  for (const document of [
    waiting(THERE),
    waiting(HERE, "renamed"),
    waiting("{}").replace("stores: {outbox: {}}", ""),
  ]) {
    const direct = document.includes("stores:") ? document : document.replace("shared_outbox", "direct_hold");
    stage.folder.write("bridge.yaml", direct);
    const { config_watch: watch } = await stage.health((health) => health.config_watch.last_error !== undefined);
    expect(watch.last_error).toBe(error);
    stage.folder.write("bridge.yaml", waiting(HERE));
    await stage.health((health) => health.config_watch.last_error === undefined);
  }
  stage.folder.write("bridge.yaml", waiting("{abandon_backlog: true}", "only", "direct_hold"));
  await eventually(
    () => stage.admin("GET", "/routes"),
    ({ body }) => JSON.stringify(body).includes("direct_hold"),
  );
});

test("finding 4.1: a start with messages of a route that is not there says so in deep health", async () => {
  await using stage = await Stage.run(waiting(HERE));
  void stage.admin("POST", "/routes/only/inject", { subject: "s", payload: "aGk=" }).catch(() => {});
  await eventually(
    () => stage.admin("GET", "/outbox"),
    ({ body }) => (body as { depth?: number }).depth === 1,
  );
  await stage.bridge[Symbol.asyncDispose]();
  stage.folder.write("bridge.yaml", waiting(HERE, "renamed"));
  await stage.restart();
  const health = await stage.health((seen) => "undelivered" in seen);
  expect(health).toMatchObject({ undelivered: LEFT });
});

test("operators 7: what is taken back and would leave messages behind runs as soon as they are gone, and deep health says so until then", async () => {
  await using target = await Target.open("refuses");
  const often = "policy: {backoff: {initial_interval: 100ms, max_interval: 100ms}, ";
  const at = (outbox: string): string =>
    waiting(outbox).replace("http://127.0.0.1:9", target.url).replace("policy: {", often);
  await using stage = await Stage.run(at(HERE));
  const moved = await stage.opened();
  await stage.admin("PUT", `${moved}/document`, { text: at(THERE) });
  expect(await stage.admin("POST", `${moved}/commit`, { confirm_within: "5m" })).toMatchObject({ status: 200 });
  void stage.admin("POST", "/routes/only/inject", { subject: "s", payload: "aGk=" }).catch(() => {});
  await eventually(
    () => stage.admin("GET", "/outbox"),
    ({ body }) => (body as { depth?: number }).depth === 1,
  );
  expect(await stage.admin("POST", "/config/revert", { version: 1, reason: "INC-7" })).toMatchObject({
    status: 500,
    body: { status: "committed_not_applied", version: 0 },
  });
  const { config_watch: watch } = await stage.health((health) => health.config_watch.last_error !== undefined);
  expect(watch).toMatchObject({ version: 1, last_error: expect.stringContaining("abandon_backlog") as unknown });
  target.manner = "accepts";
  await stage.health((health) => health.config_watch.version === 0 && health.config_watch.last_error === undefined);
  expect(target.accepted).toEqual(["hi"]);
});
