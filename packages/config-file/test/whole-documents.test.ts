import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OverlayError } from "@bridge/config";
import { describe, expect, it } from "vitest";
import { committing } from "./support/committing.ts";

const NEVER = new AbortController().signal;

/** Each `s3cret-…` is one that stands there literally. */
const TEXT = `# The plant's own. The former key was s3cret-admin-key-1.
config_version: 41
bridge: {id: plant-7, log_level: info} # loud enough
http:
  admin_api_key: s3cret-admin-key-1 # rotate it
  monitor_api_key: \${env:ADMIN_KEY}
  api_keys:
    - {id: grafana, role: viewer, key: "s3cret-grafana-key"}
    - {id: alice, role: operator, key: 's3cret-alice-key-12'}
sessions:
  - id: broker
    transport: web
    options:
      url: https://user:s3cret-in-a-url@example.com/x
      password: |
        s3cret-of
        two-lines
      headers: {authorization: s3cret-header, x-tenant: "\${env:USER}"}
      keys: [s3cret-first, s3cret-second]
`;
const REDACTED = 8;

const secretsIn = (text: string): readonly string[] => text.match(/s3cret|two-lines/g) ?? [];

describe("the document as people wrote it", () => {
  it("operators 7: shows comments, options and references, and no secret that stands there", async () => {
    await using file = committing(TEXT);
    const shown = await file.transactions.document(NEVER);
    expect(shown).toMatchObject({ version: 41, format: "yaml", redacted: REDACTED });
    expect(secretsIn(shown.text)).toEqual([]);
    expect(shown.text).toContain("# rotate it");
    expect(shown.text).toContain("# The plant's own. The former key was [REDACTED].");
    expect(shown.text).toContain("monitor_api_key: ${env:ADMIN_KEY}");
    expect(shown.text).toContain('x-tenant: "${env:USER}"');
    expect(shown.text).toContain("url: https://[REDACTED]@example.com/x");
  });

  it("operators 7: hides what no schema knows, as it may be a secret under a name that was mistyped", async () => {
    await using file = committing(
      "bridge: {id: a}\nhttp: {admin_api_kye: s3cret-admin-key-1}\nsessions: [{id: b, transport: webb, options: {pass: s3cret}}]\n",
    );
    const { text, redacted } = await file.transactions.document(NEVER);
    expect(secretsIn(text)).toEqual([]);
    expect(redacted).toBe(2);
  });

  it("operators 7: sent back as it is shown, with each literal secret redacted, it commits with none lost", async () => {
    await using file = committing(TEXT);
    const { text } = await file.transactions.document(NEVER);
    const next = text.replace("log_level: info", "log_level: debug");
    expect(next).not.toBe(text);
    expect(await file.commit(next)).toEqual({ status: "committed", version: 42 });
    const stored = await file.store.load(NEVER);
    const former = await file.store.versions.load(41, NEVER);
    expect(stored?.document).toEqual({
      ...former?.document,
      config_version: 42,
      bridge: { id: "plant-7", log_level: "debug" },
    });
    expect(readFileSync(file.path, "utf8")).toContain('admin_api_key: "s3cret-admin-key-1" # rotate it');
  });

  it("operators 7: sent back without a change it is no commit", async () => {
    await using file = committing(TEXT);
    expect(await file.commit((await file.transactions.document(NEVER)).text)).toEqual({
      status: "committed",
      version: 41,
    });
    expect(readFileSync(file.path, "utf8")).toBe(TEXT);
  });

  it("operators 7: a comment alone is a commit, and changes nothing that runs", async () => {
    await using file = committing(TEXT);
    const { text } = await file.transactions.document(NEVER);
    expect(await file.commit(text.replace("loud enough", "too loud"))).toMatchObject({ version: 42 });
    expect(readFileSync(file.path, "utf8")).toContain("# too loud");
    expect(await file.transactions.history(NEVER)).toMatchObject([{ version: 42, changes: [] }]);
  });

  it("operators 7: [REDACTED] is taken where the text showed it in the same place, and nowhere else", async () => {
    await using file = committing(TEXT);
    const { text } = await file.transactions.document(NEVER);
    const { id } = await file.transactions.open(60_000, NEVER);
    for (const [from, to, place] of [
      ["log_level: info", "log_level: '[REDACTED]'", "bridge.log_level"],
      ["id: grafana", "id: other", "http.api_keys[0].key"],
      ["admin_api_key: ", "admin_api_key: x", "http.admin_api_key"],
      ["https://[REDACTED]@example.com/x", "https://[REDACTED]@example.org/x", "sessions[0].options.url"],
      ["authorization:", "cookie:", "sessions[0].options.headers.cookie"],
      ["x-tenant", "'[REDACTED]': '[REDACTED]', x-tenant", 'sessions[0].options.headers["[REDACTED]"]'],
    ] as const) {
      const next = text.replace(from, to);
      expect(next).not.toBe(text);
      const replaced = file.transactions.replace(id, next, NEVER);
      await expect(replaced).rejects.toThrow(OverlayError);
      await expect(replaced).rejects.toThrow(place);
    }
    expect((await file.transactions.inspect(id)).patchCount).toBe(0);
  });

  it("operators 7: the place of an element is where its id stands, in whatever order", async () => {
    await using file = committing(TEXT);
    const { text } = await file.transactions.document(NEVER);
    const [grafana = "", alice = ""] = text.match(/^ {4}- \{id.*\n/gm) ?? [];
    const next = text.replace(
      grafana + alice,
      `    - {id: new, role: viewer, key: a-new-key-0123456789}\n${alice}${grafana}`,
    );
    expect(await file.commit(next)).toMatchObject({ status: "committed" });
    expect((await file.store.load(NEVER))?.document).toMatchObject({
      http: { api_keys: [{ id: "new" }, { key: "s3cret-alice-key-12" }, { key: "s3cret-grafana-key" }] },
    });
  });

  it("operators 7: options change, fields go, and the type of an entry may, which a PATCH cannot do", async () => {
    await using file = committing(TEXT);
    const { text } = await file.transactions.document(NEVER);
    const next = text
      .replace(/ {6}keys: .*\n/, "")
      .replace("x-tenant", "x-site")
      .replace("transport: web", "transport: other");
    const { id } = await file.transactions.open(60_000, NEVER);
    const { problems, preview } = await file.transactions.replace(id, next, NEVER);
    expect(problems).toMatchObject([{ path: ["sessions", 0, "transport"] }]);
    expect(preview).toMatchObject({ sessions: [{ transport: "other" }] });
    expect(await file.transactions.commit(id, "alice")).toMatchObject({ status: "invalid" });
    const whole = "config_version: 7\nbridge: {id: plant-8}\n";
    expect(await file.transactions.replace(id, whole, NEVER)).toMatchObject({ problems: [] });
    expect(await file.transactions.commit(id, "alice")).toEqual({ status: "committed", version: 42 });
    expect(readFileSync(file.path, "utf8")).toBe("config_version: 42\nbridge: {id: plant-8}\n");
  });

  it("operators 7: what holds for a PATCH holds for a document: strictness, references, the block config, and its place", async () => {
    await using file = committing(TEXT);
    const { id } = await file.transactions.open(60_000, NEVER);
    const replace = (text: string) => file.transactions.replace(id, text, NEVER);
    for (const [text, why] of [
      ["a: [", "text: cannot be read: 1:"],
      ["- a", "the document is a list"],
      ["bridge: {id: '${file:/etc/shadow}'}", "/etc/shadow"],
      ["bridge: {id: plant-7}\nconfig: {references: {allow: ['**']}}", "config: changes in the document itself"],
      [`bridge: {id: plant-7}\nroutes: [${"1, ".repeat(10_001)}]`, "routes: would be 10001"],
      [`bridge: {id: ${"x".repeat(2 * 1024 * 1024)}}`, "would have more than"],
    ] as const)
      await expect(replace(text)).rejects.toThrow(why);
    const wrong = await replace("bridge: {id: plant-7, log_lvel: s3cret}");
    expect(wrong.problems).toMatchObject([{ path: ["bridge", "log_lvel"] }]);
    expect(await file.transactions.commit(id, "alice")).toMatchObject({ status: "invalid" });
    writeFileSync(file.path, "bridge: {id: by-hand}\n");
    await replace("bridge: {id: plant-8}");
    expect(await file.transactions.commit(id, "alice")).toMatchObject({ status: "conflict" });
    expect(readFileSync(file.path, "utf8")).toBe("bridge: {id: by-hand}\n");
  });

  it("operators 7: a file of JSON stays one", async () => {
    await using file = committing('{\n  "bridge": {"id": "plant-7"}\n}\n', { name: "bridge.json" });
    expect(await file.transactions.document(NEVER)).toMatchObject({ format: "json", redacted: 0 });
    await expect(file.commit("bridge: {id: plant-8}\n")).rejects.toThrow("it is not JSON");
  });

  it("operators 7: a store without texts or versions says so", async () => {
    await using file = committing(TEXT, {
      seenAs: (store) => ({
        source: store.source,
        seen: undefined,
        load: (signal) => store.load(signal),
        write: (document, expected, signal) => store.write(document, expected, signal),
        restore: (former, current, signal) => store.restore(former, current, signal),
        watch: (signal) => store.watch(signal),
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      }),
    });
    const unsupported = expect.objectContaining({ kind: "unsupported" }) as Error;
    await expect(file.transactions.document(NEVER)).rejects.toEqual(unsupported);
    await expect(file.transactions.open(60_000, NEVER, 3)).rejects.toEqual(unsupported);
    const { id } = await file.transactions.open(60_000, NEVER);
    await expect(file.transactions.replace(id, "a: 1", NEVER)).rejects.toEqual(unsupported);
    expect(await file.transactions.diff(id, NEVER)).toEqual({
      version: 41,
      changes: [],
      warnings: [expect.objectContaining({ path: ["sessions", 0] })],
    });
  });
});

describe("what a commit would change", () => {
  it("operators 7: is told value by value and line by line, without a secret", async () => {
    await using file = committing(TEXT);
    const { id } = await file.transactions.open(60_000, NEVER);
    const { text } = await file.transactions.document(NEVER);
    const next = text
      .replace("log_level: info", "log_level: debug")
      .replace('viewer, key: "[REDACTED]"', "viewer, key: s3cret-and-new-1");
    await file.transactions.replace(id, next, NEVER);
    const diff = await file.transactions.diff(id, NEVER);
    expect(diff).toMatchObject({
      version: 41,
      changes: [
        { path: "bridge.log_level", before: "info", after: "debug" },
        { path: "http.api_keys[grafana].key", before: "[REDACTED]", after: "[REDACTED]" },
      ],
    });
    expect(diff.text).toMatch(/^--- 41\n\+\+\+ 42\n@@ -1,\d+ \+1,\d+ @@\n/);
    expect(diff.text).toContain("-bridge: {id: plant-7, log_level: info} # loud enough\n");
    expect(diff.text).toContain("+bridge: {id: plant-7, log_level: debug} # loud enough\n");
    expect(secretsIn(JSON.stringify(diff))).toEqual([]);
  });
});

describe("former versions", () => {
  it("operators 7: a document from history round-trips", async () => {
    await using file = committing(TEXT);
    expect(await file.commit("# shorter\nconfig_version: 0\nbridge: {id: plant-7}\n")).toMatchObject({ version: 42 });
    const { id } = await file.transactions.open(60_000, NEVER, 41);
    expect((await file.transactions.inspect(id)).preview).toMatchObject({ bridge: { log_level: "info" } });
    expect(await file.transactions.commit(id, "bob")).toEqual({ status: "committed", version: 43 });
    expect(readFileSync(file.path, "utf8")).toBe(TEXT.replace("config_version: 41", "config_version: 43"));
  });

  it("operators 7: the newest 20 are kept, for their owner only, and the history says which are there", async () => {
    await using file = committing("config_version: 1\nbridge: {id: plant-1}\n");
    for (let i = 2; i <= 24; i++) await file.commit(`bridge: {id: plant-${i}}\n`);
    const versions = `${file.path}.versions`;
    const numbers = readdirSync(versions).map((name) => Number.parseInt(name, 10));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 4));
    expect(statSync(versions).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(versions)) expect(statSync(join(versions, name)).mode & 0o777).toBe(0o600);
    writeFileSync(join(versions, "notes.txt"), "mine");
    const history = await file.transactions.history(NEVER);
    expect(history?.map(({ version, available }) => [version, available])).toEqual(
      Array.from({ length: 20 }, (_, i) => [24 - i, true]),
    );
    const notKept = expect.objectContaining({ kind: "not_found" }) as Error;
    await expect(file.transactions.open(60_000, NEVER, 3)).rejects.toEqual(notKept);
    await file.transactions.open(60_000, NEVER, 4);
  });

  it("operators 7: what a change may do is said by what is stored now, also going back", async () => {
    await using file = committing("config: {references: {allow: ['env:*']}}\nbridge: {id: '${env:USER}'}\n");
    await file.commit("config: {references: {allow: ['env:*']}}\nbridge: {id: plant-7}\n");
    writeFileSync(file.path, "config_version: 1\nbridge: {id: plant-7}\n");
    const { id } = await file.transactions.open(60_000, NEVER, 0);
    await expect(file.transactions.patch(id, { bridge: { instance_id: "${env:USER}" } }, NEVER)).rejects.toThrow(
      "env:USER",
    );
    expect(await file.transactions.commit(id, "bob")).toMatchObject({ status: "committed" });
    expect((await file.store.load(NEVER))?.document).toEqual({ config_version: 2, bridge: { id: "${env:USER}" } });
  });

  it("operators 7: what was taken back is kept beside the others, to be mended", async () => {
    await using file = committing(TEXT);
    const stored = await file.store.load(NEVER);
    if (stored === undefined) throw new Error("there is nothing");
    const written = await file.store.write({ bridge: { id: "bad" } }, stored, NEVER);
    if (written === undefined) throw new Error("not written");
    await file.store.restore(stored, written, NEVER);
    await file.store.versions.keepReverted(written, NEVER);
    expect(readdirSync(`${file.path}.versions`).toSorted()).toEqual(["41.yaml", "42.reverted.yaml"]);
    expect((await file.store.versions.load(42, NEVER))?.document).toEqual({
      config_version: 42,
      bridge: { id: "bad" },
    });
  });

  it("operators 7: that one cannot be kept fails no commit", async () => {
    await using file = committing("bridge: {id: a}\n");
    writeFileSync(`${file.path}.versions`, "in the way");
    expect(await file.commit("bridge: {id: b}\n")).toEqual({ status: "committed", version: 1 });
  });
});
