import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ask, eventually, type Told } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { INSIDE, webToWeb } from "./support/documents.ts";
import { ADMIN_KEY, Folder } from "./support/folder.ts";
import { WebService } from "./support/web-service.ts";

const folders: Folder[] = [];
afterAll(() => {
  for (const folder of folders) folder[Symbol.dispose]();
});

interface Health {
  readonly ready_for_traffic: boolean;
  readonly routes: readonly { readonly id: string }[];
  readonly config_watch: {
    readonly source: string;
    readonly version: number;
    readonly last_reload_at?: string;
    readonly last_error?: string;
    readonly restart_required?: string;
  };
}

/** A bridge that runs in a folder of its own. */
async function running(document: string, others: Readonly<Record<string, string>> = {}) {
  const folder = new Folder();
  folders.push(folder);
  folder.write("bridge.yaml", document);
  for (const [name, text] of Object.entries(others)) folder.write(name, text);
  const bridge = folder.run();
  await bridge.logged("bridge started");
  const monitor = await bridge.url("monitor");
  const look = (): Promise<Told> => ask(`${monitor}/api/v1/monitor/deephealth`);
  return {
    folder,
    bridge,
    edit: (text: string) => folder.write("bridge.yaml", text),
    health: async (wanted: (health: Health) => boolean) =>
      (await eventually(look, ({ body }) => wanted(body as Health))).body as Health,
    [Symbol.asyncDispose]: () => bridge[Symbol.asyncDispose](),
  };
}

async function inject(bridge: Binary, route: string): Promise<Told> {
  const body = JSON.stringify({ subject: "s", payload: "aGVsbG8=", headers: {} });
  const headers = { "X-API-Key": ADMIN_KEY, "content-type": "application/json" };
  return ask(`${await bridge.url("admin")}/api/v1/admin/routes/${route}/inject`, { method: "POST", headers, body });
}

const second = INSIDE.replace(
  "routes: [",
  "routes: [{id: second, receiver_id: in-2, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}, ",
).replace("receivers: [", "receivers: [{id: in-2, transport: memory, options: {channel: in-2}}, ");

describe("the file of a bridge that runs", () => {
  test("is taken over when it changes, and deep health tells", async () => {
    await using stage = await running(INSIDE);
    expect((await stage.health(() => true)).config_watch).toEqual({ source: "bridge.yaml", version: 0 });
    const before = Date.now();
    stage.edit(`config_version: 7\n${second}`);
    const health = await stage.health(({ config_watch: { version } }) => version === 7);
    expect(health.routes.map(({ id }) => id).toSorted()).toEqual(["only", "second"]);
    expect(Date.parse(health.config_watch.last_reload_at ?? "")).toBeGreaterThanOrEqual(before);
    expect(await stage.bridge.logged("configuration reloaded")).toMatchObject({ config_version: 7 });
    expect(await inject(stage.bridge, "second")).toMatchObject({ status: 200 });
  });

  test("is broken, and nothing stops: the last good one runs, and the log and deep health say why and where", async () => {
    await using stage = await running(INSIDE);
    const errors = [
      [INSIDE.slice(0, -20), /^bridge\.yaml:\d+:\d+ /],
      [`${INSIDE}nonsense: 1\n`, /^bridge\.yaml:8:1 nonsense: unknown key/],
      [
        INSIDE.replace("to-out}", "to-nowhere}").replaceAll("memory", "memroy"),
        /^bridge\.yaml:\d+:\d+ .*\(and \d+ more\)$/,
      ],
      ["", /^bridge\.yaml bridge: is required$/],
    ] as const;
    for (const [text, error] of errors) {
      stage.edit(text);
      const health = await stage.health(({ config_watch: { last_error = "" } }) => error.test(last_error));
      expect(health.ready_for_traffic).toBe(true);
      expect(await inject(stage.bridge, "only")).toMatchObject({ status: 200, body: { status: "injected" } });
    }
    expect(stage.bridge.log.filter(({ msg }) => msg === "configuration refused").length).toBeGreaterThanOrEqual(4);
    rmSync(join(stage.folder.path, "bridge.yaml"));
    await stage.health(({ config_watch: { last_error = "" } }) => last_error.includes("there is no such file"));
    expect(await inject(stage.bridge, "only")).toMatchObject({ status: 200 });
    stage.edit(INSIDE);
    const repaired = await stage.health(({ config_watch: { last_error } }) => last_error === undefined);
    expect(repaired.ready_for_traffic).toBe(true);
  });

  test("spec 1.7: a changed http block waits for a restart, and is asked for until it is as it was", async () => {
    await using stage = await running(INSIDE);
    stage.edit(INSIDE.replace("http: {", "http: {monitor_api_key: another-key-of-length, "));
    const health = await stage.health(({ config_watch: { restart_required } }) => restart_required !== undefined);
    expect(health.config_watch).toMatchObject({ restart_required: "http" });
    expect(health.config_watch).not.toHaveProperty("last_error");
    stage.edit(INSIDE);
    await stage.health(({ config_watch: { restart_required } }) => restart_required === undefined);
  });

  test("is refused when the next start would fail with it, for want of a key", async () => {
    await using stage = await running(INSIDE);
    stage.edit(INSIDE.replace(`, admin_api_key: ${ADMIN_KEY}`, ""));
    await stage.health(({ config_watch: { last_error = "" } }) => last_error.includes("BRIDGE_ADMIN_API_KEY"));
    expect(await inject(stage.bridge, "only")).toMatchObject({ status: 200 });
  });

  test("changes bridge.log_level in place", async () => {
    await using stage = await running(INSIDE);
    stage.edit(INSIDE.replace("{id: test}", "{id: test, log_level: error}"));
    await stage.health(({ config_watch: { last_reload_at } }) => last_reload_at !== undefined);
    const lines = stage.bridge.log.length;
    stage.edit("not: [valid");
    await stage.health(({ config_watch: { last_error } }) => last_error !== undefined);
    expect(stage.bridge.log.slice(lines).map(({ level }) => level)).toEqual(expect.arrayContaining(["error"]));
    expect(stage.bridge.log.slice(lines).every(({ level }) => level === "error")).toBe(true);
  });

  test("is swapped through the links of a ConfigMap", async () => {
    const folder = new Folder();
    folders.push(folder);
    const at = (...names: string[]): string => join(folder.path, ...names);
    mkdirSync(at("..1"));
    folder.write("..1/bridge.yaml", INSIDE);
    symlinkSync("..1", at("..data"));
    symlinkSync("..data/bridge.yaml", at("bridge.yaml"));
    await using bridge = folder.run();
    await bridge.logged("bridge started");
    mkdirSync(at("..2"));
    folder.write("..2/bridge.yaml", `config_version: 2\n${INSIDE}`);
    symlinkSync("..2", at("..data_tmp"));
    renameSync(at("..data_tmp"), at("..data"));
    rmSync(at("..1"), { recursive: true });
    expect(await bridge.logged("configuration reloaded")).toMatchObject({ config_version: 2 });
  });
});

describe("contract 7: SIGHUP", () => {
  test("reads the file at once, and what it refers to, which no watch sees", async () => {
    await using former = await WebService.open();
    await using next = await WebService.open();
    const document = webToWeb("${file:url.txt}").replace(
      "bridge: {",
      "config_watch: {mode: poll, poll_interval: 1h}\nbridge: {",
    );
    await using stage = await running(document, { "url.txt": former.url });
    stage.folder.write("url.txt", next.url);
    stage.bridge.kill("SIGHUP");
    await stage.bridge.logged("configuration reloaded");
    const injected = inject(stage.bridge, "only");
    await next.called;
    next.answer(200);
    expect(await injected).toMatchObject({ status: 200 });
  });
});
