import { describe as describing, duration, secret } from "@bridge/ports/options";
import { describe, expect, test } from "vitest";
import * as v from "valibot";
import { checkStrictly, documentReference, id } from "../src/documents.ts";

const schema = v.strictObject({
  name: describing(id(), "Names it."),
  wait: describing(v.optional(duration(), "30s"), "How long."),
  key: describing(v.optional(secret(), ""), "Opens it."),
});

describe("a document beside the configuration", () => {
  test("is read with its defaults", () => {
    expect(checkStrictly(schema, { name: "x" })).toEqual({ ok: true, output: { name: "x", wait: 30_000, key: "" } });
  });

  test("is refused with every problem, its place, and a suggestion, and never with a secret", () => {
    const checked = checkStrictly(schema, { nmae: "x", wait: 30, key: ["canary-in-a-key"] });
    expect(checked).toMatchObject({
      ok: false,
      problems: [
        { path: ["nmae"], message: expect.stringContaining('"name"') as string },
        { path: ["name"] },
        { path: ["wait"], message: expect.stringContaining("a duration is a string with a unit") as string },
        { path: ["key"], message: expect.stringContaining("expected a string") as string },
      ],
    });
    expect(JSON.stringify(checked)).not.toContain("canary");
  });

  test.each([["text"], [null], [[]], [undefined]])("%j is none", (value) => {
    expect(checkStrictly(schema, value).ok).toBe(false);
  });

  test("has a page of its keys", () => {
    expect(documentReference(schema)).toContain("| `wait` | duration | `30s` | How long. |");
  });
});
