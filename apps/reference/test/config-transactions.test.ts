import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "./support/ask.ts";
import { INSIDE, webToWeb } from "./support/documents.ts";
import { ADMIN_KEY } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";
import { WebService } from "./support/web-service.ts";

afterAll(() => {
  squatter.close();
});

const DEBUG = { bridge: { log_level: "debug" } };
const SEVEN = { routes: [{ id: "only", policy: { max_in_flight: 7 } }] };
/** Valid, and fails when it starts: where a receiver without options listens, somebody listens already. */
const TAKEN = { port: 8082, host: "127.0.0.1" };
const UNOPENABLE = {
  receivers: [{ id: "in-2", transport: "http" }],
  routes: [
    { id: "only", policy: { max_in_flight: 7 } },
    {
      id: "second",
      receiver_id: "in-2",
      bindings: ["to-out"],
      policy: { on_permanent_failure: "drop", on_expired: "drop" },
    },
  ],
};

const NOT_TO_ITS_END =
  "the configuration was written by a commit that did not get to its end: this start is the first to run it, as far as is known";

const squatter = createServer();
beforeAll(async () => {
  // Where it is taken by another program, that will do.
  const listening = once(squatter, "listening");
  squatter.listen(TAKEN);
  await listening.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
  });
});

/** A message is on its way to a target that does not answer, so that a change of its route has to wait. */
async function withMessageInFlight(target: WebService): Promise<{ stage: Stage; settled: Promise<unknown> }> {
  const stage = await Stage.run(webToWeb(target.url));
  const settled = stage.admin("POST", "/routes/only/inject", { subject: "s", payload: "aGk=" }).catch(() => {});
  await target.called;
  return { stage, settled };
}

const error = (text: string): unknown => ({ error: expect.stringContaining(text) as unknown });

describe("changing the configuration of a bridge that runs", () => {
  test("from open to commit: the file is rewritten with its comments, and what it says runs", async () => {
    await using stage = await Stage.run(`# by hand\n${INSIDE}`);
    const opened = await stage.admin("POST", "/config/transactions");
    expect(opened).toMatchObject({
      status: 201,
      body: { version: 0, config: { http: { admin_api_key: "[REDACTED]" } } },
    });
    const path = `/config/transactions/${(opened.body as { txn_id: string }).txn_id}`;
    expect(await stage.admin("PATCH", path, SEVEN)).toMatchObject({ status: 200, body: { preview: SEVEN } });
    expect(await stage.admin("PATCH", path, DEBUG)).toMatchObject({ status: 200, body: { preview: DEBUG } });
    expect(await stage.admin("GET", path)).toMatchObject({ status: 200, body: { patch_count: 2 } });
    expect(await stage.admin("POST", `${path}/validate`)).toMatchObject({
      status: 200,
      body: { valid: true, plan: { routes: { restarted: ["only"] }, in_place: ["bridge.log_level"] } },
    });
    expect(await stage.admin("POST", `${path}/commit`)).toEqual({
      status: 200,
      body: { status: "committed", version: 1 },
    });
    expect(stage.text).toContain("# by hand\n");
    expect(stage.text).toMatch(/config_version: 1/);
    expect(await stage.admin("GET", "/routes")).toMatchObject({ body: { routes: [{ id: "only", max_in_flight: 7 }] } });
    expect((await stage.health(() => true)).config_watch).toMatchObject({ version: 1 });
    const history = await stage.admin("GET", "/config/history");
    expect(history).toMatchObject({ body: { versions: [{ version: 1, actor: "admin" }] } });
    await stage.restart();
    expect(await stage.admin("GET", "/config")).toMatchObject({ body: { version: 1, config: { ...DEBUG } } });
    expect(await stage.admin("GET", "/config/history")).toEqual(history);
  });

  test("what a commit wrote is not taken for another hand's change", async () => {
    await using stage = await Stage.run(INSIDE);
    await stage.commit(SEVEN);
    stage.folder.write("bridge.yaml", stage.text.replace("id: test", "id: test, drain_timeout: 20s"));
    await stage.bridge.logged("configuration reloaded");
    expect(stage.bridge.log.filter(({ msg }) => msg === "configuration reloaded")).toHaveLength(1);
  });

  test("from open to rollback: nothing has changed", async () => {
    await using stage = await Stage.run(INSIDE);
    const path = await stage.opened(SEVEN);
    expect(await stage.admin("DELETE", path)).toEqual({ status: 200, body: { status: "rolled_back" } });
    for (const [method, at] of [
      ["GET", path],
      ["POST", `${path}/commit`],
      ["DELETE", path],
    ] as const)
      expect(await stage.admin(method, at)).toEqual({ status: 404, body: error("transaction not found or expired") });
    expect(stage.text).toBe(INSIDE);
  });

  test("what was read and is sent back changes nothing, not a byte, though secrets are hidden and references not resolved", async () => {
    const document = INSIDE.replace(`admin_api_key: ${ADMIN_KEY}`, 'admin_api_key: "${env:KEY}"');
    await using stage = await Stage.run(document, { KEY: ADMIN_KEY });
    const { body } = await stage.admin("GET", "/config");
    expect(JSON.stringify(body)).not.toContain(ADMIN_KEY);
    expect(await stage.commit((body as { config: object }).config)).toEqual({
      status: 200,
      body: { status: "committed", version: 0 },
    });
    expect(stage.text).toBe(document);
    await stage.commit({ http: { monitor_api_key: "${env:KEY}" } });
    expect(stage.text).toContain('${env:KEY}"');
    expect(stage.text).toMatch(/monitor_api_key: "?\$\{env:KEY\}"?/);
    expect(stage.text + stage.bridge.stderr).not.toContain(ADMIN_KEY);
    expect(
      (await stage.health(({ config_watch }) => config_watch.restart_required !== undefined)).config_watch,
    ).toMatchObject({
      restart_required: "http",
    });
  });

  test("one at a time, and no longer than asked for", async () => {
    await using stage = await Stage.run(INSIDE);
    expect(await stage.admin("POST", "/config/transactions", { ttl: "31m" })).toMatchObject({ status: 400 });
    const { body } = await stage.admin("POST", "/config/transactions", { ttl: "300ms" });
    const { txn_id: id, expires_at: to } = body as Record<string, string>;
    expect(await stage.admin("POST", "/config/transactions")).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(`${id}.*${to}`) as unknown },
    });
    await eventually(
      () => stage.admin("GET", `/config/transactions/${id}`),
      ({ status }) => status === 404,
    );
    expect(await stage.admin("POST", "/config/transactions")).toMatchObject({ status: 201 });
  });

  test("a patch that is no part of a configuration is refused, and one that makes none is shown its problems", async () => {
    await using stage = await Stage.run(INSIDE);
    const path = await stage.opened();
    for (const overlay of [{ options: {} }, { receivers: [{ id: "in", options: {} }] }, { bridge: null }, { x: 1 }])
      expect(await stage.admin("PATCH", path, overlay)).toMatchObject({
        status: 400,
        body: error("invalid request body"),
      });
    const invalid = { routes: [{ id: "only", receiver_id: "nothing" }], bridge: { log_level: "loud" } };
    const refused = { validation_errors: [{ path: "bridge.log_level" }, { path: "routes[0].receiver_id" }] };
    const patched = await stage.admin("PATCH", path, invalid);
    expect((patched.body as typeof refused).validation_errors.map((problem) => problem.path)).toEqual(
      expect.arrayContaining(["bridge.log_level", "routes[0].receiver_id"]),
    );
    expect(await stage.admin("POST", `${path}/commit`)).toMatchObject({
      status: 422,
      body: error("config validation failed"),
    });
    expect(await stage.admin("PATCH", path, { receivers: [{ id: "in", transport: "http" }] })).toMatchObject({
      status: 200,
    });
    expect(await stage.admin("POST", `${path}/commit`)).toEqual({
      status: 422,
      body: { error: "config commit would erase plugin options" },
    });
    expect(await stage.admin("GET", path)).toMatchObject({ status: 200 });
    expect(stage.text).toBe(INSIDE);
  });

  test("another hand's write is a conflict, though the version is the same", async () => {
    await using stage = await Stage.run(INSIDE);
    const path = await stage.opened(SEVEN);
    const byHand = `${INSIDE}# a word\n`;
    stage.folder.write("bridge.yaml", byHand);
    expect(await stage.admin("POST", `${path}/commit`)).toMatchObject({ status: 409, body: error("another hand") });
    expect(await stage.admin("GET", path)).toMatchObject({ status: 404 });
    expect(stage.text).toBe(byHand);
  });

  test("a file that cannot be written to is a conflict", async () => {
    await using stage = await Stage.run(INSIDE);
    chmodSync(join(stage.folder.path, "bridge.yaml"), 0o444);
    expect(await stage.commit(SEVEN)).toMatchObject({ status: 409, body: error("cannot be written to") });
    expect(stage.text).toBe(INSIDE);
  });

  test("while the bridge is stopped it is stored for the next start", async () => {
    await using stage = await Stage.run(INSIDE);
    await stage.admin("POST", "/bridge/stop");
    expect(await stage.commit(SEVEN)).toEqual({ status: 202, body: { status: "committed_applying", version: 1 } });
    expect(stage.text).toMatch(/config_version: 1/);
    await stage.admin("POST", "/bridge/start");
    expect(await stage.admin("GET", "/routes")).toMatchObject({ body: { routes: [{ max_in_flight: 7 }] } });
  });

  test("what cannot be applied is undone, in the file to the byte, and in the bridge", async () => {
    await using stage = await Stage.run(INSIDE);
    expect(await stage.commit(UNOPENABLE)).toEqual({
      status: 500,
      body: { status: "rolled_back", version: 0, ...(error("could not be applied") as object) },
    });
    expect(stage.text).toBe(INSIDE);
    const inject = { subject: "s", payload: "aGk=" };
    expect(await stage.admin("POST", "/routes/only/inject", inject)).toMatchObject({ status: 200 });
    expect(await stage.admin("GET", "/config/history")).toEqual({ status: 200, body: { versions: [] } });
    expect(await stage.commit(SEVEN)).toMatchObject({ status: 200, body: { version: 1 } });
  });

  test("what cannot be applied is not undone over another hand's write, and the answer says what is stored", async () => {
    await using target = await WebService.open();
    const { stage, settled } = await withMessageInFlight(target);
    await using _ = stage;
    const committing = stage.commit(UNOPENABLE);
    await expect.poll(() => stage.text, { timeout: 20_000 }).toMatch(/config_version: 1/);
    stage.folder.write("bridge.yaml", `config_version: 9\n${webToWeb(target.url)}`);
    target.answer(200);
    await settled;
    expect(await committing).toMatchObject({
      status: 500,
      body: { status: "committed_not_applied", version: 9, ...(error("another hand has written since") as object) },
    });
    await stage.health(({ config_watch: { version, last_error } }) => version === 9 && last_error === undefined);
  });

  test("what can be neither applied nor undone is told by the answer, by deep health, and by the next start", async () => {
    await using target = await WebService.open();
    const { stage, settled } = await withMessageInFlight(target);
    await using _ = stage;
    const committing = stage.commit(UNOPENABLE);
    await expect.poll(() => stage.text, { timeout: 20_000 }).toMatch(/config_version: 1/);
    chmodSync(join(stage.folder.path, "bridge.yaml"), 0o444);
    target.answer(200);
    await settled;
    expect(await committing).toMatchObject({
      status: 500,
      body: {
        status: "committed_not_applied",
        version: 1,
        ...(error("version 1 is stored and does not run") as object),
      },
    });
    const { config_watch: watch } = await stage.health(({ config_watch }) => config_watch.last_error !== undefined);
    expect(watch).toMatchObject({
      version: 0,
      last_error: expect.stringContaining("version 1 is stored and does not run") as unknown,
    });
    expect(await stage.admin("GET", "/config/history")).toMatchObject({
      body: { versions: [{ version: 1, pending: true }] },
    });
    await stage.bridge[Symbol.asyncDispose]();
    stage.bridge = stage.folder.run();
    expect(await stage.bridge.logged(NOT_TO_ITS_END)).toMatchObject({
      level: "warn",
      config_version: 1,
      actor: "admin",
    });
    // Where the port is still taken.
    expect(await stage.bridge.ended).toBe(1);
  });

  test("a commit goes on when its client is gone, and while it does, a second one is refused", async () => {
    await using target = await WebService.open();
    const { stage, settled } = await withMessageInFlight(target);
    await using _ = stage;
    const path = await stage.opened(SEVEN);
    const client = new AbortController();
    const committing = stage.admin("POST", `${path}/commit`, undefined, client.signal);
    await expect.poll(() => stage.text, { timeout: 20_000 }).toMatch(/config_version: 1/);
    client.abort();
    await expect(committing).rejects.toThrow("aborted");
    expect(await stage.admin("POST", `${path}/commit`)).toMatchObject({ status: 409, body: error("being committed") });
    target.answer(200);
    await settled;
    await stage.health(({ config_watch: { version } }) => version === 1);
    const done = await eventually(
      () => stage.admin("GET", path),
      ({ status }) => status === 404,
    );
    expect(done.status).toBe(404);
  });

  test("killed between the write and the application, the next start runs what is written, and says so", async () => {
    await using target = await WebService.open();
    const { stage, settled } = await withMessageInFlight(target);
    await using _ = stage;
    const committing = stage.commit(SEVEN).catch(() => {});
    await expect.poll(() => stage.text, { timeout: 20_000 }).toMatch(/config_version: 1/);
    const written = stage.text;
    stage.bridge.kill("SIGKILL");
    await Promise.all([committing, settled]);
    await stage.restart();
    expect(stage.text).toBe(written);
    expect(stage.bridge.log).toContainEqual(
      expect.objectContaining({
        level: "warn",
        msg: NOT_TO_ITS_END,
        config_version: 1,
        actor: "admin",
      }),
    );
    expect(await stage.admin("GET", "/routes")).toMatchObject({ body: { routes: [{ max_in_flight: 7 }] } });
    const history = await eventually(
      () => stage.admin("GET", "/config/history"),
      ({ body }) => !JSON.stringify(body).includes("pending"),
    );
    expect(history).toMatchObject({ body: { versions: [{ version: 1, actor: "admin" }] } });
    await stage.restart();
    expect(stage.bridge.stderr).not.toContain("did not get to its end");
  });
});
