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
  const result = editDocument(text, { ...document }).text;
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
    expect(editDocument("", { a: 1 }).text).toBe("a: 1\n");
    expect(editDocument("# nothing yet\n", { a: 1 }).text).toBe("# nothing yet\n\na: 1\n");
  });
});

const MESSY = `# the plant

bridge:   {id: plant-7,log_level:   "info" }   # ours


routes:
  - id:  a
    bindings: [ x,y ,  z ]
    policy:
      max_in_flight:   100     # enough


      backoff: { initial_interval: 1s ,
                 multiplier: 2 }

  -   id: b
      bindings:
      - x

      # and this
      - "y"

senders: [ {id: x}, {id: 'y' } ]


# the end
`;

describe("a YAML document that its owner has laid out", () => {
  type Messy = {
    bridge: Record<string, unknown>;
    routes: { id: string; bindings: string[]; policy?: Record<string, unknown> }[];
    senders: Record<string, unknown>[];
    config_version?: number;
  };
  const change = (by: (document: Messy) => void): string => {
    const document = valueOf(MESSY) as Messy;
    by(document);
    const result = editDocument(MESSY, { ...document }).text;
    expect(valueOf(result)).toEqual(document);
    return result;
  };

  it("is changed where it changes, to the letter", () => {
    expect(change(({ routes }) => Object.assign(routes[0]!.policy!, { max_in_flight: 7 }))).toBe(
      MESSY.replace("100  ", "7  "),
    );
    expect(change(({ bridge }) => (bridge["log_level"] = "debug"))).toBe(MESSY.replace('"info"', '"debug"'));
    expect(change(({ routes }) => (routes[1]!.bindings[1] = "q, r"))).toBe(MESSY.replace('"y"', '"q, r"'));
  });

  it("gets what is new behind what is there", () => {
    expect(change((document) => (document.config_version = 1))).toBe(
      MESSY.replace("'y' } ]\n", "'y' } ]\nconfig_version: 1\n"),
    );
    expect(change(({ bridge }) => (bridge["drain_timeout"] = "5s"))).toBe(
      MESSY.replace('"info" }', '"info", drain_timeout: 5s }'),
    );
    expect(change(({ routes }) => routes[0]!.bindings.push("w"))).toBe(MESSY.replace(",  z ]", ",  z, w ]"));
    expect(change(({ routes }) => routes[1]!.bindings.push("w"))).toBe(MESSY.replace('"y"\n', '"y"\n      - w\n'));
    expect(change(({ routes }) => Object.assign(routes[0]!.policy!, { replay: { cap: 3 } }))).toBe(
      MESSY.replace("multiplier: 2 }\n", "multiplier: 2 }\n      replay:\n        cap: 3\n"),
    );
    expect(change(({ routes }) => Object.assign(routes[1]!, { policy: { n: 3 } }))).toBe(
      MESSY.replace('"y"\n', '"y"\n      policy:\n        n: 3\n'),
    );
    expect(change(({ routes }) => routes.push({ id: "c", bindings: ["x"] }))).toBe(
      MESSY.replace('"y"\n', '"y"\n  - id: c\n    bindings:\n    - x\n'),
    );
  });

  it("has a list of words in braces written again when one goes, and nothing else", () => {
    expect(change(({ routes }) => routes[0]!.bindings.shift())).toBe(MESSY.replace("[ x,y ,  z ]", "[ y, z ]"));
  });

  it("has one number changed: no other character is another one", () => {
    const style = fc.record({ flow: fc.boolean(), pad: fc.constantFrom("", " ", "  "), blank: fc.boolean() });
    const tree: fc.Arbitrary<Tree> = fc.letrec<{ node: Tree }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        fc.constant<Tree>({ kind: "number" }),
        fc.record({
          kind: fc.constant("map" as const),
          style,
          parts: fc.array(tie("node"), { minLength: 1, maxLength: 4 }),
        }),
        fc.record({
          kind: fc.constant("list" as const),
          style,
          parts: fc.array(tie("node"), { minLength: 1, maxLength: 4 }),
        }),
      ),
    })).node;
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), fc.nat(), (parts, pick) => {
        const numbers: number[] = [];
        const text = laidOut({ kind: "map", style: { flow: false, pad: " ", blank: true }, parts }, 0, numbers);
        const chosen = String(numbers[pick % numbers.length]);
        const wanted = JSON.parse(JSON.stringify(valueOf(text)).replace(chosen, "77")) as Record<string, unknown>;
        expect(editDocument(text, wanted).text).toBe(text.replace(chosen, "77"));
      }),
      { numRuns: 300 },
    );
  });
});

type Style = { readonly flow: boolean; readonly pad: string; readonly blank: boolean };
type Tree =
  | { readonly kind: "number" }
  | { readonly kind: "map" | "list"; readonly style: Style; readonly parts: readonly Tree[] };

/** A tree as somebody might write it, with numbers of which each is another one. */
function laidOut(tree: Tree, indent: number, numbers: number[], inFlow = false): string {
  if (tree.kind === "number") {
    numbers.push(1000 + numbers.length);
    return String(numbers.at(-1));
  }
  const { style, parts, kind } = tree;
  const { flow, pad, blank } = style;
  if (inFlow || flow) {
    const inner = parts.map((part, at) => (kind === "map" ? `k${at}: ` : "") + laidOut(part, 0, numbers, true));
    return kind === "map" ? `{${pad}${inner.join(`,${pad}`)}${pad}}` : `[${pad}${inner.join(` ,${pad}`)}${pad}]`;
  }
  return parts
    .map((part, at) => {
      const inside = part.kind !== "number" && !part.style.flow;
      const head = `${" ".repeat(indent)}${kind === "map" ? `k${at}:` : "-"}${inside ? "" : ` ${pad}`}`;
      const body = laidOut(part, indent + 2, numbers);
      const tail = inside ? "" : `${blank ? `${pad} # said ${at}` : ""}\n${blank ? "\n\n" : ""}`;
      return `${head}${inside ? "\n" : ""}${body}${tail}`;
    })
    .join("");
}

const LAID_OUT_JSON = `{
  "bridge": {"id": "a",  "n": 1},
  "list": [ 1, 2,3 ],

  "last": {
    "x": 1e3
  }
}
`;

interface LaidOut {
  bridge: Record<string, unknown>;
  list: number[];
  last: Record<string, unknown>;
  config_version?: number;
}

describe("a JSON document that its owner has laid out", () => {
  it("is changed where it changes, and stays JSON", () => {
    const change = (by: (document: LaidOut) => unknown): string => {
      const document = JSON.parse(LAID_OUT_JSON) as LaidOut;
      by(document);
      const result = editDocument(LAID_OUT_JSON, { ...document }).text;
      expect(JSON.parse(result)).toEqual(document);
      return result;
    };
    expect(change((all) => (all.bridge["n"] = 2))).toBe(LAID_OUT_JSON.replace('"n": 1', '"n": 2'));
    expect(change((all) => (all.bridge["s"] = "x"))).toBe(LAID_OUT_JSON.replace('"n": 1', '"n": 1, "s": "x"'));
    expect(change((all) => all.list.push(4))).toBe(LAID_OUT_JSON.replace("2,3", "2,3, 4"));
    expect(change((all) => (all.config_version = 1))).toBe(
      LAID_OUT_JSON.replace("\n  }\n}", '\n  },\n  "config_version": 1\n}'),
    );
    expect(change((all) => (all.last["y"] = { z: 1 }))).toBe(
      LAID_OUT_JSON.replace("1e3", '1e3,\n    "y": {\n      "z": 1\n    }'),
    );
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

  it.each([1.5, 5e-324, 2 ** 60])("has the whole number become %s when something else goes", (number) => {
    const text = editDocument('{"jitter":0,"tags":[]}', { jitter: number }).text;
    expect(JSON.parse(text)).toEqual({ jitter: number });
  });

  it("becomes any other, as YAML and as JSON", () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        expect(valueOf(editDocument(stringify(from), to).text)).toEqual(to);
        expect(JSON.parse(editDocument(JSON.stringify(from, undefined, 2), to).text)).toEqual(to);
      }),
      { numRuns: 60 },
    );
  });
});
