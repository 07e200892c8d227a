import { PATIENCE } from "@bridge/tooling/patience";
import { rows } from "@bridge/tooling/long";
import { type Json, put, valueAt } from "@bridge/tooling/spoiled";
import { linkSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkDocument, createRegistry, formatPath, type FileNamed, type Path } from "@bridge/config";
import { fileOrigin } from "@bridge/host";
import { parse } from "yaml";
import { plugins } from "../src/compose.ts";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";
import { RICH_DOCUMENTS } from "./support/rich-documents.ts";
import { Stage } from "./support/stage.ts";

const registry = createRegistry(plugins());
const signal = AbortSignal.timeout(10 * PATIENCE.timeout);

/** What a bridge keeps beside a document, as writers, locks and databases name it. */
const BESIDE_DOCUMENT = [
  ...["", ".history.jsonl", ".probation", ".leaving", ".versions"].flatMap((name) =>
    ["", "-new", "-lock", "-lock-journal"].map((end) => name + end),
  ),
  ".versions/1.yaml",
  ".versions/12.json-new",
  ".versions/7.reverted.yaml",
  ".leaving/x.db",
];

/** The same beside a store or an audit file. */
const BESIDE_KEPT = ["", "-lock", "-mark", "-wal", "-shm", "-journal", "-new", "-new-journal"].concat(
  [".damaged-20261130T120000000Z", ".damaged-20261130T120000000Z-wal", ".damaged-20261130T120000000Z.acknowledged"],
  [".0000000000000042", "/x.db"],
);

/** Each field is held against some of the names, and each name against some fields. */
const STRIDE = 13;
const ANY = { env: {} };

/** The fields of a document that name files, and what is wrong with their places when it lies at `path`. */
async function told(document: object, path: string) {
  const origin = fileOrigin(path, ANY);
  await using _ = origin.store;
  const fields: Path[] = [];
  const whyUnusable = ({ place }: FileNamed) => void fields.push(place);
  const checked = await checkDocument(document, registry, { ...origin.sources, whyUnusable }, signal);
  const problems = checked.ok ? [] : checked.problems.filter(({ message }) => message.endsWith("own"));
  return { fields, problems };
}

/** Each of these documents with each of its fields that names a file, without those whose plugins and fields came before. */
async function* fieldsOf(documents: readonly Json[], path: string) {
  const known = new Set<string>();
  for (const document of documents) {
    for (const field of (await told(document, path)).fields) {
      const plugin = valueAt(document, [...field.slice(0, 2), field[0] === "stores" ? "type" : "transport"]);
      const key = JSON.stringify([field, plugin]);
      if (!known.has(key)) yield { document, field };
      known.add(key);
    }
  }
}

function changed(document: Json, field: Path, value: string): Json {
  const copy = JSON.parse(JSON.stringify(document)) as Json; // With nothing in two places.
  put(copy, field, value);
  return copy;
}

/** The fields of problems, without what is below the options of a store. */
function blamed(problems: readonly { readonly path: Path }[]): readonly string[] {
  return problems.map(({ path }) => formatPath(path[0] === "stores" ? path.slice(0, 3) : path));
}

describe("contract A.3: each file has a place of its own", () => {
  test("no field that names a file may name the document, or what the bridge keeps beside it", async () => {
    using folder = new Folder();
    const path = folder.write("bridge.yaml", "{}");
    mkdirSync(join(folder.path, "in"));
    symlinkSync(folder.path, join(folder.path, "linked"));
    symlinkSync("bridge.yaml.leaving", join(folder.path, "link-to-missing"));
    const ways = [folder.path, `${folder.path}/in/..`, `${folder.path}/./linked`];
    const taken = ways.flatMap((way, n) =>
      BESIDE_DOCUMENT.filter((_, row) => row % ways.length <= n).map((name) => `${way}/bridge.yaml${name}`),
    );
    taken.push(join(folder.path, "link-to-missing"));
    const free = [
      "bridge.yaml.db",
      "bridge.yaml-outbox",
      "bridge.yam",
      "bridge.yaml.leavings",
      "x.bridge.yaml.leaving",
      "Bridge.yaml.leaving",
    ];
    let fields = 0;
    const wrong: unknown[] = [];
    for await (const { document, field } of fieldsOf(RICH_DOCUMENTS, path)) {
      fields++;
      const shown = blamed([{ path: field }])[0];
      for (const each of rows(taken, (_, row) => row % STRIDE === fields % STRIDE)) {
        const { problems } = await told(changed(document, field, each), path);
        if (!blamed(problems).includes(shown ?? "")) wrong.push([shown, each]);
      }
      for (const name of rows(free, (_, row) => row === fields % free.length)) {
        const { problems } = await told(changed(document, field, join(folder.path, name)), path);
        if (problems.length > 0) wrong.push([shown, name, problems]);
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(fields).toBeGreaterThan(12);
  });

  test("nor a store, the audit file, or what the bridge makes beside one", async () => {
    using folder = new Folder();
    const path = folder.write("bridge.yaml", "{}");
    const KEPT = [
      ["stores", "dlq", "options", "path"],
      ["stores", "outbox", "options", "path"],
      ["audit", "file", "path"],
    ];
    const wrong: unknown[] = [];
    let cells = 0;
    for await (const { document, field } of fieldsOf(RICH_DOCUMENTS, path)) {
      for (const kept of KEPT.filter((each) => each.join() !== field.join())) {
        const own = valueAt(document, kept);
        if (typeof own !== "string") continue;
        cells++;
        for (const end of rows(BESIDE_KEPT, (_, row) => row % STRIDE === cells % STRIDE)) {
          const { problems } = await told(changed(document, field, own + end), path);
          if (problems.length !== 1) wrong.push([formatPath(field), own + end, problems]);
        }
        for (const end of rows(["-2", ".db", ".damaged", ".1", "2-lock"], (_, row) => row === cells % 5)) {
          const { problems } = await told(changed(document, field, own + end), path);
          if (problems.length > 0) wrong.push([formatPath(field), own + end, problems]);
        }
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
  });

  test("in other letters, too, where the file system takes them for the same", async () => {
    using folder = new Folder();
    const path = folder.write("bridge.yaml", "{}");
    linkSync(path, join(folder.path, "BRIDGE.YAML"));
    const [document = {}] = RICH_DOCUMENTS;
    const outbox = (name: string) => changed(document, ["audit", "file", "path"], join(folder.path, name));
    for (const name of ["Bridge.yaml.leaving", "bridge.YAML.Probation", "BRIDGE.YAML.VERSIONS/1.YAML"])
      expect(blamed((await told(outbox(name), path)).problems)).toEqual(["audit.file.path"]);
  });

  test("beside a link to the document, while what it leads to is not there", async () => {
    using folder = new Folder();
    const path = join(folder.path, "bridge.yaml");
    symlinkSync("later.yaml", path);
    const [document = {}] = RICH_DOCUMENTS;
    for (const name of ["later.yaml.leaving", "bridge.yaml.leaving"]) {
      const { problems } = await told(changed(document, ["audit", "file", "path"], join(folder.path, name)), path);
      expect(blamed(problems)).toEqual(["audit.file.path"]);
    }
  });

  test("whatever a bridge has made in its folder is taken, but for its document's neighbours", async () => {
    const STORES = "stores: {dlq: {type: file, options: {path: d.db}}, outbox: {type: file, options: {path: o.db}}}\n";
    await using stage = await Stage.run(`${INSIDE}${STORES}audit: {file: {path: a.jsonl, max_bytes: 4096}}\n`);
    for (const level of ["debug", "info", "debug", "info"]) await stage.commit({ bridge: { log_level: level } });
    const transaction = await stage.opened({ bridge: { log_level: "warn" } });
    const { status } = await stage.admin("POST", `${transaction}/commit`, { confirm_within: "1h" });
    expect(status).toBe(200);
    const path = join(stage.folder.path, "bridge.yaml");
    const document = parse(stage.text) as Json;
    const at = (name: string) => join(stage.folder.path, name);
    const here = {
      ...document,
      stores: {
        dlq: { type: "file", options: { path: at("d.db") } },
        outbox: { type: "file", options: { path: at("o.db") } },
      },
    };
    const made = readdirSync(stage.folder.path, { recursive: true, encoding: "utf8" });
    expect(made.length).toBeGreaterThan(12);
    const files = { ...here, audit: { file: { path: at("a.jsonl") } } };
    const http = { ...(document["http"] as object), tls_key_file: "k.pem" };
    expect((await told(files, path)).problems).toEqual([]);
    for (const name of made) {
      const { problems } = await told({ ...files, http: { ...http, tls_cert_file: at(name) } }, path);
      expect([name, blamed(problems)]).toEqual([name, ["http.tls_cert_file"]]);
    }
  });
});
