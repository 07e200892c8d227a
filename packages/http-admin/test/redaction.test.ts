import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactedJson } from "../src/redacted-json.ts";
import { startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const CANARY = "canary-4929-0000";
const OPERATOR = { headers: { "X-API-Key": "operator-key-0123456789" } };
const RAW = { headers: { "X-API-Key": "raw-key-0123456789" } };
const keys = {
  adminApiKey: "admin-key-0123456789",
  adminApiKeys: {
    olga: { key: "operator-key-0123456789", role: "operator" },
    rita: { key: "raw-key-0123456789", permissions: ["payload.read", "payload.raw"] },
  },
} as const;
const FIELDS = new Set(["password", "card_number"]);

interface Shown {
  readonly payload?: string;
  readonly payload_sha256?: string;
  readonly payload_bytes: number;
  readonly redacted?: true;
  readonly envelope: { readonly headers: Readonly<Record<string, string>> };
}

/** What a caller sees of an entry with this payload and these headers. */
async function seen(
  payload: string | Uint8Array,
  headers: Record<string, string>,
  init: RequestInit,
  fields = [...FIELDS],
) {
  await using admin = await startAdmin({ keys, redact: { fields } });
  const { envelope } = deadLetter("e1");
  await keep(admin, deadLetter("e1", { envelope: { ...envelope, headers, payload: Buffer.from(payload) } }));
  const { status, body } = await admin.call("GET", "/dlq/messages/e1", undefined, init);
  expect(status).toBe(200);
  const shown = body as Shown;
  return { ...shown, text: shown.payload && Buffer.from(shown.payload, "base64").toString("utf8") };
}

describe("operators 5.3: redaction", () => {
  it("values of fields and headers are hidden from who may not see them, and only those", async () => {
    const payload = `{"user":"u","Password":"${CANARY}","cards":[{"CARD_number": ["${CANARY}"], "n":9223372036854775808}]}`;
    const headers = { authorization: CANARY, "x-api-key": CANARY, site: "north" };
    const hidden = await seen(payload, headers, OPERATOR);
    expect(hidden).toMatchObject({
      redacted: true,
      text: '{"user":"u","Password":"[REDACTED]","cards":[{"CARD_number": "[REDACTED]", "n":9223372036854775808}]}',
      envelope: { headers: { authorization: "[REDACTED]", "x-api-key": "[REDACTED]", site: "north" } },
    });
    expect(JSON.stringify(hidden)).not.toContain(CANARY);
    const whole = await seen(payload, headers, RAW);
    expect(whole).toMatchObject({ text: payload, envelope: { headers } });
    expect(whole).not.toHaveProperty("redacted");
  });

  it.each<[string, string | Uint8Array]>([
    ["no JSON", `password=${CANARY}`],
    ["JSON with more behind it", `{"a":1} ${CANARY}`],
    ["no UTF-8", Uint8Array.from([0x22, 0xff, 0x22])],
    ["a byte order mark", `\uFEFF{"password":"${CANARY}"}`],
    ["deeper than 64 levels", `${"[".repeat(65)}"${CANARY}"${"]".repeat(65)}`],
    ["larger than a mebibyte", `"${CANARY}${"x".repeat(1024 * 1024)}"`],
  ])("%s is shown as its size and digest only", async (_, payload) => {
    const shown = await seen(payload, {}, OPERATOR);
    expect(shown).toMatchObject({ redacted: true, payload_bytes: Buffer.from(payload).length });
    expect(shown.payload_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(shown).not.toHaveProperty("payload");
    const whole = await seen(payload, {}, RAW);
    expect(Buffer.from(whole.payload ?? "", "base64").equals(Buffer.from(payload))).toBe(true);
    expect(await seen(payload, {}, OPERATOR, [])).not.toHaveProperty("redacted");
  });

  it("what has nothing to hide is shown to the byte, and is not called redacted", async () => {
    const shown = await seen('{ "a" : 1.50, "a": "\\u0041" }', { site: "north" }, OPERATOR);
    expect(shown).toMatchObject({ text: '{ "a" : 1.50, "a": "\\u0041" }' });
    expect(shown).not.toHaveProperty("redacted");
  });

  it("is of JSON whatever it is, with no canary left and all else as it was", () => {
    const key = fc.oneof(fc.constantFrom("password", "PASSWORD", "Card_Number"), fc.string({ maxLength: 5 }));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.string(),
        fc.double(),
        fc.constantFrom(null, true, 'a"b\\', "password", ":", CANARY.slice(0, 3)),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
      ),
    }));
    const hide = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(hide);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, FIELDS.has(name.toLowerCase()) ? "[REDACTED]" : hide(part)]),
      );
    };
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 1, 4), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(JSON.parse(redactedJson(text, FIELDS) ?? "null")).toEqual(hide(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  it("knows a field however its name is spelt, and each of two with one name", () => {
    for (const name of ["password", "pass\\u0077ord", "\\u0050ASSWORD"])
      expect(redactedJson(`{"${name}":1,"${name}" : {"x":[1,"}"]}}`, FIELDS)).toBe(
        `{"${name}":"[REDACTED]","${name}" : "[REDACTED]"}`,
      );
  });
});
