import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { editDocument } from "../src/edit-document.ts";
import { parseDocument } from "../src/parse-document.ts";

function valueOf(text: string): unknown {
  const parsed = parseDocument(text);
  if ("problems" in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
}

/** What the documents of these tests hold, one or the other of it. */
interface Draft {
  config_version: number;
  bridge: { id: string; log_level?: string };
  senders: { id: string; transport?: string; options?: { url: string } }[];
  routes: { id: string; bindings: string[] }[];
  a: { n: number };
  b: { n: number };
  c: { n: number };
  d: number;
}

function edit(text: string, change: (document: Draft) => void): string {
  const document = JSON.parse(JSON.stringify(valueOf(text))) as Draft;
  change(document);
  const result = editDocument(text, { ...document });
  expect(valueOf(result)).toEqual(document);
  return result;
}

const YAML = `# What the plant has.

# yaml-language-server: $schema=bridge.schema.json
bridge:
  # how we are called
  id: plant-7 # since 2019
  log_level: "info"
http: {admin_api_key: "\${env:ADMIN_KEY}", monitor_addr: ':9081'}

# Where it goes.
senders:
  # the shop
  - id: shop
    transport: http # not https
    options: {url: 'https://example.org'}

  # the archive
  - id: archive
    transport: memory
`;

describe("a YAML document that is changed", () => {
  it("is the same text but for what changed: comments, order, quotes and references stay", () => {
    const text = edit(YAML, (document) => {
      document.bridge.log_level = "debug";
      Object.assign(document.senders[0]!, { options: { url: "https://example.com" } });
      document.config_version = 1;
    });
    expect(text).toBe(`${YAML.replace('"info"', '"debug"').replace("example.org", "example.com")}config_version: 1\n`);
  });

  it("keeps the comments of a list's elements, followed by id, when others come, go and move", () => {
    const text = edit(YAML, ({ senders }) => {
      const [shop, archive] = senders.splice(0);
      senders.push({ id: "new", transport: "mqtt" }, { ...archive!, transport: "file" }, shop!);
    });
    const list = text.slice(text.indexOf("senders:"));
    expect(list).toMatch(/^senders:\n {2}- id: new\n {4}transport: mqtt\n/);
    expect(list).toMatch(/# the archive\n {2}- id: archive\n {4}transport: file\n/);
    expect(list).toMatch(/# the shop\n {2}- id: shop\n {4}transport: http # not https\n/);
  });

  it("takes what is removed away with its comment, and nothing else", () => {
    const text = edit(YAML, ({ senders }) => senders.pop());
    expect(text).toBe(YAML.slice(0, YAML.indexOf("\n  # the archive")));
  });

  it("keeps its indentation, its way with lists and braces, and its line ends", () => {
    for (const layout of [
      "bridge:\n  id: a\nroutes:\n- id: x\n  bindings: [a]\n",
      "bridge:\n    id: a\nroutes:\n    - id: x\n      bindings: [a]\n",
      "bridge: { id: a }\r\nroutes:\r\n  - { id: x, bindings: [ a ] }\r\n",
      "---\nbridge:\n   id: a\n",
    ]) {
      expect(edit(layout, ({ bridge }) => (bridge.id = "b"))).toBe(layout.replace("id: a", "id: b"));
    }
    const flow = "routes:\n  - {id: x, bindings: [a]}\n";
    expect(edit(flow, ({ routes }) => routes.push({ id: "y", bindings: ["b"] }))).toBe(
      `${flow}  - {id: y, bindings: [b]}\n`,
    );
  });

  it("does not fold long lines", () => {
    const text = `bridge: {id: a}\ntext: ${"word ".repeat(100)}end\n`;
    expect(edit(text, ({ bridge }) => (bridge.id = "b"))).toBe(text.replace("id: a", "id: b"));
  });

  it("keeps an anchor and its aliases where they still say what is wanted, and unfolds them where not", () => {
    const text = "a: &policy {n: 1}\nb: *policy\nc: *policy\n";
    expect(edit(text, (document) => (document.d = 1))).toBe(`${text}d: 1\n`);
    expect(edit(text, ({ b }) => (b.n = 2))).toContain("a: &policy {n: 1}");
    expect(edit(text, (document) => (document.a = { n: 2 }))).not.toContain("*policy");
    expect(edit(text, (document) => (document.c = { n: 3 }))).toBe(
      "a: &policy {n: 1}\nb: *policy\nc: {n: 3}\n".replace("{n: 3}", "\n  n: 3").replace("c: ", "c:"),
    );
  });

  it("may have been empty", () => {
    expect(editDocument("", { a: 1 })).toBe("a: 1\n");
    expect(editDocument("# nothing yet\n", { a: 1 })).toBe("# nothing yet\n\na: 1\n");
  });
});

describe("a JSON document that is changed", () => {
  it.each([0, 2, 4, "\t"])("stays JSON with its indentation %j and its last line", (indent) => {
    const document = { bridge: { id: "a" }, routes: [{ id: "x", bindings: [] }] };
    for (const end of ["", "\n"]) {
      const text = JSON.stringify(document, undefined, indent) + end;
      const changed = edit(text, (each) => Object.assign(each, { bridge: { id: "b", log_level: "info" } }));
      const wanted = { ...document, bridge: { id: "b", log_level: "info" } };
      expect(changed).toBe(JSON.stringify(wanted, undefined, indent) + end);
    }
  });
});

describe("any document", () => {
  const key = fc.oneof(fc.constantFrom("id", "a", "b", "__proto__", "10", "a: b"), fc.string({ maxLength: 5 }));
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 3 }, leaf, tie("list"), tie("map")),
    list: fc.array(tie("any"), { maxLength: 4 }),
    map: fc.dictionary(key, tie("any"), { maxKeys: 4 }),
  }));
  const document = fc
    .dictionary(key, value.any, { maxKeys: 4 })
    .map((each) => JSON.parse(JSON.stringify(each)) as Record<string, unknown>);

  it("becomes any other, as YAML and as JSON", () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        expect(valueOf(editDocument(stringify(from), to))).toEqual(to);
        expect(JSON.parse(editDocument(JSON.stringify(from, undefined, 2), to))).toEqual(to);
      }),
      { numRuns: 60 },
    );
  });
});
