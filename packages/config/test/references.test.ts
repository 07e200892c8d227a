import { describe, expect, it } from "vitest";
import { type ReferenceSources, type ResolvedDocument, resolveReferences } from "../src/index.ts";

const ENVIRONMENT: Readonly<Record<string, string>> = { KEY: "s3cret", EMPTY: "", NESTED: "${env:KEY}" };
const FILES: Readonly<Record<string, string>> = { "/run/key": "from-file\n", two: "a\n\n" };

const sources: ReferenceSources = {
  env: (name) => (Object.hasOwn(ENVIRONMENT, name) ? ENVIRONMENT[name] : undefined),
  file: async (path) => {
    const text = FILES[path];
    if (text === undefined) throw new Error("it is not there");
    return text;
  },
};

async function resolve(document: unknown): Promise<ResolvedDocument> {
  return resolveReferences(document, sources, new AbortController().signal);
}

describe("references", () => {
  it.each([
    ["${env:KEY}", "s3cret"],
    ["a ${env:KEY} and ${file:/run/key}!", "a s3cret and from-file!"],
    ["${env:EMPTY}", ""],
    ["${file:two}", "a\n"],
    ["${env:NESTED}", "${env:KEY}"],
    ["$${env:KEY}", "${env:KEY}"],
    ["$${file:x} ${env:KEY}", "${file:x} s3cret"],
    ["$$${env:KEY}", "$${env:KEY}"],
    ["$share/g/${env:KEY}", "$share/g/s3cret"],
    ["{device} ${other:x} $KEY ${KEY}", "{device} ${other:x} $KEY ${KEY}"],
  ])("%s stands for %j", async (text, value) => {
    expect(await resolve({ a: [text] })).toMatchObject({ document: { a: [value] }, problems: [] });
  });

  it("of another kind than env and file stand for what the application reads", async () => {
    const asked: string[] = [];
    const others = {
      vault: async (name: string): Promise<string> => {
        asked.push(name);
        if (name === "gone") throw new Error("there is no such entry");
        return "from-vault\n";
      },
    };
    const { signal } = new AbortController();
    const document = {
      a: "${vault:x/y:z}",
      b: "<${vault:x/y:z}>",
      c: "$${vault:x}",
      d: "${vault:gone}",
      e: "${other:x}",
    };
    expect(await resolveReferences(document, { ...sources, others }, signal)).toEqual({
      document: { ...document, a: "from-vault\n", b: "<from-vault\n>", c: "${vault:x}" },
      fromReference: [["a"], ["b"], ["d"]],
      referred: [
        { path: ["a"], value: "from-vault\n" },
        { path: ["b"], value: "from-vault\n" },
      ],
      problems: [{ path: ["d"], message: 'what ${vault:…} names, "gone", cannot be read: there is no such entry' }],
      unread: true,
    });
    expect(asked).toEqual(["x/y:z", "gone"]);
  });

  it("are told by the places of the strings that hold them", async () => {
    const document = { a: ["x", "${env:KEY}"], b: { c: "$${env:KEY}", d: "${env:NONE}", "${env:KEY}": 1 } };
    const { fromReference, document: resolved } = await resolve(document);
    expect(fromReference).toEqual([
      ["a", 1],
      ["b", "d"],
    ]);
    expect(resolved).toEqual({ a: ["x", "s3cret"], b: { c: "${env:KEY}", d: "${env:NONE}", "${env:KEY}": 1 } });
  });

  it("that fail are problems at their place, all at once, and leave the text", async () => {
    const document = { a: "${env:NONE}", b: "${file:/none}", c: "${env:}", d: "x ${env:KEY and", e: "${file:\n}" };
    const { problems, document: resolved } = await resolve(document);
    expect(resolved).toEqual(document);
    expect(problems).toEqual([
      { path: ["a"], message: 'the environment variable "NONE" is not set: set it or replace the reference' },
      { path: ["b"], message: 'the file "/none" cannot be read: it is not there' },
      { path: ["c"], message: "the reference ${env:} names nothing" },
      { path: ["d"], message: 'the reference ${env:… is not closed: add "}"' },
      { path: ["e"], message: 'the file "\\n" cannot be read: it is not there' },
    ]);
  });

  it("to one file read it once", async () => {
    const read: string[] = [];
    const file = async (path: string): Promise<string> => {
      read.push(path);
      return `${read.length}`;
    };
    const signal = new AbortController().signal;
    const { document } = await resolveReferences(["${file:a}", "${file:a}", "${file:b}"], { ...sources, file }, signal);
    expect(document).toEqual(["1", "1", "2"]);
    expect(read).toEqual(["a", "b"]);
  });

  it("end with the signal's reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const file = async (): Promise<string> => {
      controller.abort(reason);
      throw new Error("aborted");
    };
    await expect(resolveReferences(["${file:a}"], { ...sources, file }, controller.signal)).rejects.toBe(reason);
  });

  it("are not looked for in a document without end", async () => {
    const endless: unknown[] = [];
    endless.push(endless);
    const { problems } = await resolve({ endless });
    expect(problems).toEqual([{ path: expect.any(Array) as unknown, message: "is nested more than 100 levels deep" }]);
  });
});
