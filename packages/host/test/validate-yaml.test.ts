import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memory } from "@bridge/transport-memory";
import { afterAll, expect, test } from "vitest";
import { runBridge } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-yaml-"));
afterAll(() => rmSync(folder, { recursive: true }));

const program = { name: "bridge", version: "0.0.0" };
const plugins = { transports: [memory().plugin()] };

async function validated(content: string | Uint8Array): Promise<{ code: number; stderr: string }> {
  const path = join(folder, "bridge.yaml");
  writeFileSync(path, content);
  const host = new StandIn({ args: ["-validate", "-config", path] });
  const code = await runBridge({ program, plugins }, host.process);
  return { code, stderr: host.stderr.text.replaceAll(path, "F") };
}

const ROUTES = `
receivers: [{id: in, transport: memory, options: {channel: in}}]
senders: [{id: out, transport: memory, options: {channel: out}}]
bindings: [{id: to-out, sender_id: out}]
`;
const POLICY = "{on_permanent_failure: drop, on_expired: drop}";
const GOOD = `bridge: {id: test}${ROUTES}routes: [{id: only, receiver_id: in, bindings: [to-out], policy: ${POLICY}}]\n`;
const LINES = GOOD.split("\n").length;
const LAUGHS = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}*l${n}]`);

test.each<[string, string | Uint8Array]>([
  ["as it is", GOOD],
  ["with a mark of byte order", `\uFEFF${GOOD}`],
  ["with CRLF", GOOD.replaceAll("\n", "\r\n")],
  ["between a start and an end mark", `---\n${GOOD}...\n`],
  ["said to be YAML 1.2", `%YAML 1.2\n---\n${GOOD}`],
  [
    "with an alias for a policy",
    GOOD.replace("routes: [", `routes: [{id: a, receiver_id: in2, bindings: [to-out], policy: &p ${POLICY}}, `)
      .replace(`policy: ${POLICY}}]`, "policy: *p}]")
      .replace("receivers: [", "receivers: [{id: in2, transport: memory, options: {channel: in2}}, "),
  ],
  ["whose words are texts where texts are wanted", GOOD.replaceAll("channel: out", "channel: yes")],
  ["with a date where a text is wanted", GOOD.replaceAll("channel: out", "channel: 2001-01-01")],
])("-validate takes a document %s", async (_, content) => {
  expect(await validated(content)).toMatchObject({ code: 0 });
});

test.each<[string, string | Uint8Array, RegExp]>([
  [
    "a merge key",
    GOOD.replace(`policy: ${POLICY}`, `policy: {<<: *p, on_expired: drop}`).replace("bridge:", "bridge: &p"),
    /^F:5:\d+ merge keys \(<<\) are not supported: write the keys out, or use an alias as a whole value/m,
  ],
  [
    "a key twice",
    `${GOOD}bridge: {id: again}\n`,
    new RegExp(`^F:${LINES}:1 this key is there already: remove one`, "m"),
  ],
  ["a tab", `bridge:\n\tid: test\n`, /^F:2:1 tabs cannot indent: use spaces/m],
  [
    "yes for true",
    GOOD.replace("on_expired: drop", "on_expired: drop, allow_unfenced: yes"),
    /^F:5:\d+ routes\[0\]\.policy\.allow_unfenced: expected true or false \(got "yes"\)/m,
  ],
  [
    "an octal number",
    GOOD.replace("channel: in", "channel: 0644"),
    /^F:2:\d+ a number that begins with 0 could be octal/m,
  ],
  [
    "a number for a text",
    GOOD.replace("channel: in", "channel: 644"),
    /^F:2:\d+ receivers\[0\]\.options\.channel: expected a string/m,
  ],
  [
    "a number that is too long",
    GOOD.replace("channel: in", "channel: 12345678901234567890"),
    /^F:2:\d+ this number is too long to be kept exactly/m,
  ],
  ["another version of YAML", `%YAML 1.1\n---\n${GOOD}`, /^F:1:1 the document is read as YAML 1\.2: remove the line/m],
  [
    "aliases that unfold to gigabytes",
    ["l0: &l0 [ha]", ...LAUGHS].join("\n"),
    /^F:\d+:\d+ the aliases unfold to too much/m,
  ],
  ["an alias of nothing", "bridge: *nobody\n", /^F:1:9 no anchor of this name stands above/m],
  [
    "two documents",
    `${GOOD}---\n${GOOD}`,
    new RegExp(`^F:${LINES}:1 a file holds one document: remove everything`, "m"),
  ],
  ["a tag", "bridge: !secret {id: test}\n", /^F:1:9 tags other than those of JSON's types are not supported/m],
  ["lines that end in CR", GOOD.replaceAll("\n", "\r"), /^F:1:\d+ a line ends in CR alone: save the file with LF/m],
  [
    "UTF-16 with its mark",
    Buffer.from(`\uFEFF${GOOD}`, "utf16le"),
    /^F .*it is not text in UTF-8, but in UTF-16: save/m,
  ],
  ["UTF-16 without it", Buffer.from(GOOD, "utf16le"), /^F:1:2 a byte of 0 stands here: save the file as UTF-8/m],
  [
    "a byte of 0",
    GOOD.replace("bridge", "brid\0ge"),
    /^F:\d+:\d+ a byte of 0 stands here, .* damaged, .*: restore a copy/m,
  ],
  [
    "bytes of 0 in the place of all",
    Buffer.alloc(64),
    /^F:1:1 a byte of 0 stands here, .* damaged, .*: restore a copy/m,
  ],
  ["a list", "- bridge: {id: a}\n", /^F:1:1 the document is a list: write a map of keys to values, such as "bridge:"/m],
  ["a scalar", "bridge\n", /^F:1:1 the document is a single value: write a map of keys to values, such as "bridge:"/m],
  [
    "Latin-1",
    Buffer.from(`bridge: {id: a}\n# grün\n`, "latin1"),
    /^F .*it is not text in UTF-8, as line 2 shows: save it/m,
  ],
])("-validate refuses %s once, and says where and what to do", async (_, content, told) => {
  const { code, stderr } = await validated(content);
  expect(stderr).toMatch(told);
  expect(stderr.match(new RegExp(told, "gm"))).toHaveLength(1);
  expect(code).toBe(1);
});
