import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { configJsonSchema, createRegistry, formatProblem, validateConfig } from "@bridge/config";
import { placesIn, put, valueAt } from "@bridge/tooling/spoiled";
import { parse } from "yaml";
import { plugins } from "../src/compose.ts";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";
import { refusedStart } from "./support/refused-start.ts";
import { RICH_DOCUMENTS } from "./support/rich-documents.ts";
import { Stage } from "./support/stage.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());
mkdirSync(join(folder.path, "folder"));
symlinkSync(join(folder.path, "b"), join(folder.path, "a"));
symlinkSync(join(folder.path, "a"), join(folder.path, "b"));

const PLACES = ["/proc/x/y", "folder", "a"];

const FILES: Readonly<Record<string, (path: string) => string>> = {
  "stores.dlq": (path) => `stores: {dlq: {type: file, options: {path: ${path}}}}\n`,
  "audit.file": (path) => `audit: {log: false, file: {path: ${path}}}\n`,
};

test.for([
  ...Object.keys(FILES).flatMap((name) => PLACES.map((path) => [name, path] as const)),
  ["stores.dlq", "/dev/full"] as const,
])("finding 3.4: %s at %s ends the start, by name", async ([name, path]) => {
  const file = `${name}-${path.replaceAll("/", "_")}.yaml`;
  folder.write(file, INSIDE + FILES[name]?.(path));
  await using bridge = folder.run(["-config", file]);
  if (name === "audit.file") expect(await bridge.ended).toBe(1);
  else await refusedStart(bridge);
  expect(bridge.stderr).toContain(path);
  expect(bridge.stderr).not.toMatch(/\bat .*\(?.*:\d+:\d+\)?/);
});

const NAMES_A_FILE = /(?:^|_)(?:file|path|folder|dir)$/;

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly anyOf?: readonly Node[];
  readonly type?: string;
  readonly pattern?: string;
}

/** The patterns of all fields of the published schema whose names are those of files. */
function* patternsOf(node: unknown, at = ""): Generator<readonly [place: string, pattern: string]> {
  if (typeof node !== "object" || node === null) return;
  for (const [key, field] of Object.entries((node as Node).properties ?? {})) {
    const text = [field, ...(field.anyOf ?? [])].find(({ type }) => type === "string");
    if (NAMES_A_FILE.test(key) && text !== undefined) yield [`${at}.${key}`, text.pattern ?? ""];
  }
  for (const [key, part] of Object.entries(node)) yield* patternsOf(part, `${at}.${key}`);
}

describe("a path that no system takes", () => {
  const CANARY = "QwErTy-canary";
  const NUL = `${CANARY}\0zzz`;

  test("is refused by the published schema, wherever a field names a file", () => {
    const patterns = [...patternsOf(configJsonSchema(createRegistry(plugins())))];
    expect(patterns.length).toBeGreaterThan(8);
    expect(patterns.filter(([, pattern]) => pattern === "" || new RegExp(pattern).test(NUL))).toEqual([]);
  });

  test.each([NUL, `${CANARY}\ud800`])("is refused by each field of the document that names a file: %j", (path) => {
    const registry = createRegistry(plugins());
    const untold: unknown[] = [];
    let fields = 0;
    for (const document of RICH_DOCUMENTS) {
      for (const place of placesIn(document)) {
        const written = valueAt(document, place);
        // That of an HTTP receiver is one of URLs.
        if (!NAMES_A_FILE.test(String(place.at(-1))) || typeof written !== "string" || written.startsWith("/"))
          continue;
        const copy = structuredClone(document);
        put(copy, place, path);
        fields++;
        const checked = validateConfig(copy, registry, {
          whyUnusable: () => ({ kind: "problem", words: "looked at" }),
        });
        const problems = checked.ok ? [] : checked.problems.filter((problem) => problem.path.join() === place.join());
        if (!/^\S+: no file can have this path: write it without/.test(problems.map(formatProblem).join()))
          untold.push([place, problems]);
      }
    }
    expect(untold).toEqual([]);
    expect(fields).toBeGreaterThan(12);
  });

  /** What a patch can say. */
  const patched = (path: string) => ({
    http: { tls_cert_file: path, tls_key_file: path },
    audit: { file: { path } },
    telemetry: { otlp: { endpoint: "https://otel.example.com", ca_file: path } },
  });
  const whole = (path: string): object => {
    const { http, ...blocks } = patched(path);
    const document = parse(INSIDE) as Readonly<Record<"http" | "receivers" | "senders", object>>;
    const { receivers, senders } = document as unknown as Readonly<Record<string, readonly object[]>>;
    const tls = { cert_file: path, key_file: path };
    return {
      ...document,
      ...blocks,
      http: { ...document.http, ...http },
      stores: { dlq: { type: "file", options: { path } }, outbox: { type: "file", options: { path } } },
      receivers: [...(receivers ?? []), { id: "web", transport: "http", options: { addr: "127.0.0.1:0", tls } }],
      senders: [
        ...(senders ?? []),
        { id: "away", transport: "http", options: { url: "https://example.com", tls: { ca_file: path } } },
      ],
      processors: [{ id: "checks", type: "schema", options: { file: path } }],
    };
  };
  const PATCHED = ["audit.file.path", "http.tls_cert_file", "http.tls_key_file", "telemetry.otlp.ca_file"];
  const WHOLE = [
    ...PATCHED,
    "processors[0].options.file",
    "receivers[1].options.tls.cert_file",
    "receivers[1].options.tls.key_file",
    "senders[1].options.tls.ca_file",
    "stores.dlq.options.path",
    "stores.outbox.options.path",
  ];

  test("is refused over PATCH, PUT and -validate, by field, and no log has it", async () => {
    await using stage = await Stage.run(`${INSIDE}audit: {file: {path: audit.jsonl}}\n`);
    mkdirSync(join(stage.folder.path, "folder"));
    const before = stage.text;
    for (const path of [NUL, "folder", `/${CANARY.repeat(5_400)}`]) {
      for (const [method, to, body, fields] of [
        ["PATCH", "", patched(path), PATCHED],
        ["PUT", "/document", { text: JSON.stringify(whole(path)) }, WHOLE],
      ] as const) {
        const transaction = await stage.opened();
        const answers = [
          await stage.admin(method, transaction + to, body),
          await stage.admin("POST", `${transaction}/validate`, {}),
          await stage.admin("POST", `${transaction}/commit`, {}),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 422]);
        for (const answer of answers) {
          const { validation_errors: errors } = answer.body as {
            readonly validation_errors: readonly { path: string }[];
          };
          expect(new Set(errors.map((error) => error.path))).toEqual(new Set(fields));
        }
        await stage.admin("DELETE", transaction);
      }
      stage.folder.write("other.yaml", JSON.stringify(whole(path)));
      await using checked = stage.folder.run(["-validate", "-config", "other.yaml"]);
      const code = await checked.ended;
      const told = [...checked.stderr.matchAll(/^other\.yaml:\d+:\d+ (\S+): .*(?:write it|name a file)/gm)];
      const fields = new Set(told.map(([, field]) => field));
      expect([code, fields, checked.stderr]).toEqual([1, new Set(WHOLE), expect.any(String)]);
    }
    expect(stage.text).toBe(before);
    expect(stage.bridge.stderr).not.toMatch(new RegExp(`${CANARY}|unexpectedly`));
    expect(stage.folder.read("audit.jsonl")).not.toContain(CANARY);
  });
});
