import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry } from "@bridge/config";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatLocatedProblem, type LoadedConfig, loadConfigFile } from "../src/index.ts";

const registry = createRegistry({});
const NEVER = new AbortController().signal;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bridge-config-"));
});
afterAll(() => rm(folder, { recursive: true }));

const file = (name: string): string => join(folder, name);

async function load(
  text: string | Uint8Array,
  env: Readonly<Record<string, string>> = {},
  name = "bridge.yaml",
): Promise<LoadedConfig> {
  await writeFile(file(name), text);
  const loaded = await loadConfigFile(file(name), registry, { env, signal: NEVER });
  if (loaded === "missing") throw new Error("the file was not found");
  return loaded;
}

/** The problems as they are shown, without the folder. */
async function problems(...args: Parameters<typeof load>): Promise<readonly string[]> {
  const loaded = await load(...args);
  return loaded.ok ? [] : loaded.problems.map((problem) => formatLocatedProblem(problem).replace(`${folder}/`, ""));
}

describe("a configuration file", () => {
  it("in YAML becomes a configuration, with warnings at their lines", async () => {
    const loaded = await load("bridge:\n  id: plant-7\n  drain_timeout: 5s\n  quiesce_timeout: 6s\n");
    expect(loaded).toMatchObject({ ok: true, config: { bridge: { id: "plant-7", quiesceTimeoutMs: 2500 } } });
    expect(loaded.warnings.map(formatLocatedProblem)).toEqual([
      `${file("bridge.yaml")}:4:3 bridge.quiesce_timeout: is cut to 2500 ms: drain_timeout holds it and what cancelled work needs to end`,
    ]);
  });

  it("in JSON becomes a configuration, whatever its indentation", async () => {
    const document = { bridge: { id: "plant-7", log_level: "warn" }, routes: [] };
    for (const indent of [0, 2, "\t"]) {
      const loaded = await load(JSON.stringify(document, undefined, indent), {}, "bridge.json");
      expect(loaded).toMatchObject({ ok: true, config: { bridge: { id: "plant-7", logLevel: "warn" } } });
    }
    const spoilt = { ...document, routes: [{ id: 5 }] };
    expect(await problems(JSON.stringify(spoilt, undefined, "\t"), {}, "bridge.json")).toContain(
      "bridge.json:8:4 routes[0].id: expected a string (got 5)",
    );
  });

  it("tells every problem in the order of the file, each at its line and column", async () => {
    const text = [
      "bridge: {id: plant-7, log_levl: info}",
      "routes:",
      "  - id: alarms",
      "    receiver_id: in",
      "    bindings:",
      "      - to-out",
      "    policy:",
      "      backoff:",
      "        multiplier: 0.5",
      "stores:",
      "  dlq:",
      "    type: memroy",
    ].join("\n");
    expect(await problems(text)).toEqual([
      'bridge.yaml:1:23 bridge.log_levl: unknown key; did you mean "log_level"?',
      'bridge.yaml:4:5 routes[0].receiver_id: there is no receiver "in"; add it to receivers',
      'bridge.yaml:6:9 routes[0].bindings[0]: there is no binding "to-out"; add it to bindings',
      "bridge.yaml:9:9 routes[0].policy.backoff.multiplier: expected a number from 1 to 1000 (got 0.5)",
      'bridge.yaml:12:5 stores.dlq.type: no store factory is registered for store type "memroy" in the role dlq; none is registered for this role',
    ]);
  });

  it("points at what surrounds a key that is missing", async () => {
    expect(await problems("bridge:\n  log_level: info\n")).toEqual(["bridge.yaml:1:1 bridge.id: is required"]);
    expect(await problems("routes: []\n")).toEqual(["bridge.yaml:1:1 bridge: is required"]);
    expect(await problems("")).toEqual(["bridge.yaml bridge: is required"]);
  });

  it("that is not there is told apart from one that cannot be used", async () => {
    const absent = [file("none.yaml"), file("no/folder/bridge.yaml")];
    await symlink(file("gone"), file("dangling.yaml"));
    for (const path of [...absent, file("dangling.yaml")]) {
      expect(await loadConfigFile(path, registry, { env: {}, signal: NEVER })).toBe("missing");
    }
    await mkdir(file("folder.yaml"));
    expect(await loadConfigFile(file("folder.yaml"), registry, { env: {}, signal: NEVER })).toMatchObject({
      ok: false,
      problems: [{ path: [], message: "the configuration is not usable: it is not a regular file" }],
    });
  });

  it.skipIf(process.platform === "win32")("that is a named pipe does not hold up the start", async () => {
    execFileSync("sh", ["-c", `mkfifo "$0"`, file("pipe.yaml")]);
    expect(await loadConfigFile(file("pipe.yaml"), registry, { env: {}, signal: NEVER })).toMatchObject({
      problems: [{ message: "the configuration is not usable: it is not a regular file" }],
    });
  });

  it("has a bounded size, and is text", async () => {
    expect(await problems("#".repeat(4 * 1024 * 1024 + 1))).toEqual([
      "bridge.yaml the configuration is not usable: it has more than 4194304 bytes",
    ]);
    expect(await load(`bridge: {id: a}\n#${"x".repeat(4 * 1024 * 1024 - 17)}`)).toMatchObject({ ok: true });
    expect(await problems(Uint8Array.of(0x61, 0xff))).toEqual([
      "bridge.yaml the configuration is not usable: it is not text in UTF-8, as line 1 shows: save it as UTF-8",
    ]);
    expect(await load("\uFEFFbridge: {id: a}\n")).toMatchObject({ ok: true });
  });

  it("is not read once the signal has aborted", async () => {
    const reason = new Error("enough");
    const options = { env: {}, signal: AbortSignal.abort(reason) };
    await expect(loadConfigFile(file("none.yaml"), registry, options)).rejects.toBe(reason);
  });
});

describe("references in a configuration file", () => {
  it("are resolved from the environment, and from files relative to it", async () => {
    await writeFile(file("key"), "0123456789abcdef\n");
    const loaded = await load("bridge: {id: '${env:ID}'}\nhttp: {admin_api_key: '${file:key}'}\n", { ID: "plant-7" });
    expect(loaded).toMatchObject({
      ok: true,
      config: { bridge: { id: "plant-7" }, http: { adminApiKey: "0123456789abcdef" } },
    });
  });

  it("that fail are told with the other problems, and not twice", async () => {
    await writeFile(file("large"), "x".repeat(64 * 1024 + 1));
    const text = [
      "bridge: {id: '${env:ID}', drain_timeout: '${env:toString}', log_level: loud}",
      "http:",
      "  admin_api_key: ${file:none}",
      "  monitor_api_key: ${file:large}",
    ].join("\n");
    expect(await problems(text)).toEqual([
      'bridge.yaml:1:10 bridge.id: the environment variable "ID" is not set: set it or replace the reference',
      'bridge.yaml:1:27 bridge.drain_timeout: the environment variable "toString" is not set: set it or replace the reference',
      'bridge.yaml:1:61 bridge.log_level: expected one of debug, info, warn, error (got "loud")',
      'bridge.yaml:3:3 http.admin_api_key: the file "none" cannot be read: it is not there',
      'bridge.yaml:4:3 http.monitor_api_key: the file "large" cannot be read: it has more than 65536 bytes',
    ]);
  });

  it("never show what they stand for", async () => {
    const env = { SECRET: "cAnArY/9f8e" };
    const text = "bridge: {id: '${env:SECRET}', log_level: '${env:SECRET}'}\nhttp: {admin_addr: 'x${env:SECRET}'}\n";
    const shown = await problems(text, env);
    expect(shown).toHaveLength(3);
    expect(shown.join("\n")).not.toContain("cAnArY");
  });
});
