import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shownDiff, shownParts, shownProblems } from "../src/config-page.ts";
import { LIMITS } from "../src/limits.ts";
import { startTransactional } from "./transactional.ts";

const BINDINGS = 1_200;

describe("contract §2: a configuration with very many parts", () => {
  it("is shown in pages, wherever it is shown, each with how many come after it", async () => {
    await using admin = await startTransactional();
    const bindings = Array.from({ length: BINDINGS }, (_, n) => ({ id: `b-${n}`, sender_id: "hub", address: "x" }));
    const path = await admin.opened();
    const patched = await admin.call("PATCH", path, { bindings });
    const { preview, more } = patched.body as { preview: { bindings: object[] }; more: { bindings: number } };
    expect(preview.bindings).toHaveLength(LIMITS.configParts);
    const all = [...preview.bindings];
    while (all.length < LIMITS.configParts + more.bindings) {
      const { body } = await admin.call("GET", `${path}?offset=${all.length}`);
      const page = body as { preview: { bindings: object[] }; more?: { bindings: number } };
      all.push(...page.preview.bindings);
      expect(page.more?.bindings ?? 0).toBe(LIMITS.configParts + more.bindings - all.length);
    }
    expect(all.slice(-BINDINGS)).toMatchObject(bindings.map(({ id }) => ({ id })));
    expect((await admin.call("POST", `${path}/commit`)).status).toBe(200);
    for (const [method, where, status] of [
      ["GET", "/config", 200],
      ["POST", "/config/transactions", 201],
    ] as const)
      expect(await admin.call(method, where)).toMatchObject({ status, body: { more: { bindings: more.bindings } } });
    expect((await admin.call("GET", "/config?offset=x")).status).toBe(400);
  });

  it("is shown whole in its pages, and a small one at once", () => {
    const config = fc.record({
      bridge: fc.constant({ id: "b" }),
      routes: fc.array(fc.nat(), { maxLength: 1_700, size: "max" }),
    });
    fc.assert(
      fc.property(config, (given) => {
        const pages = [shownParts(given)];
        for (let last = pages[0]; last?.more !== undefined; last = pages.at(-1))
          pages.push(shownParts(given, pages.length * LIMITS.configParts));
        expect(pages.flatMap((page) => page.config["routes"])).toEqual(given.routes);
        for (const page of pages) expect(page.config["bridge"]).toBe(given.bridge);
      }),
    );
  });
});

it("of many problems the first are told, and how many there are besides", () => {
  const problems = Array.from({ length: LIMITS.configProblems + 2 }, (_, n) => ({ path: [n], message: "wrong" }));
  expect(shownProblems(problems)).toEqual([
    ...problems.slice(0, LIMITS.configProblems),
    { path: [], message: "and 2 more" },
  ]);
  expect(shownProblems(problems.slice(2))).toEqual(problems.slice(2));
});

it("of a long diff whole lines are shown, and how many come after them is told", () => {
  const line = `+${"x".repeat(99)}\n`;
  const fits = Math.floor(LIMITS.configDiffLength / line.length);
  expect(shownDiff(line)).toEqual({ text: line });
  expect(shownDiff(line.repeat(fits + 3))).toEqual({ text: line.repeat(fits), more_lines: 3 });
  expect(shownDiff(`${line.repeat(fits)}+y${"z".repeat(200)}`)).toEqual({ text: line.repeat(fits), more_lines: 1 });
});
