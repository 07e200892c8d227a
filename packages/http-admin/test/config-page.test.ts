import fc from "fast-check";
import { type ConfigApplier, strandingOf } from "@bridge/config";
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

  const ids = Array.from({ length: BINDINGS }, (_, n) => `r-${n}`);
  const applier: ConfigApplier = {
    apply: () => Promise.reject(new Error("it is only looked at")),
    beyondRecovery: () => false,
    plan: () => {
      const none = { added: [], removed: [], restarted: [], kept: [] };
      const routes = { ...none, added: ids.slice(0, 3), kept: ids };
      return Promise.resolve({
        unchanged: false,
        routes,
        sessions: { ...none, removed: ids },
        stores: [],
        inPlace: [],
        restartRequired: [],
      });
    },
    stranding: () => Promise.resolve(undefined),
  };
  const more = { "routes.kept": BINDINGS - LIMITS.configParts, "sessions.removed": BINDINGS - LIMITS.configParts };

  it("is told in pages by what a commit would do to it", async () => {
    await using admin = await startTransactional({ applier: () => applier });
    const path = await admin.opened({ bridge: { drain_timeout: "6s" } });
    type Plan = { readonly plan: { readonly routes: { readonly kept: string[] }; readonly more?: object } };
    const pages: Plan[] = [];
    for (const offset of [0, 500, 1_000])
      pages.push((await admin.call("GET", `${path}/diff?offset=${offset}`)).body as Plan);
    expect(pages.flatMap(({ plan }) => plan.routes.kept)).toEqual(ids);
    const rest = Object.fromEntries(Object.keys(more).map((name) => [name, BINDINGS - 1_000]));
    expect(pages.map(({ plan }) => plan.more)).toEqual([more, rest, undefined]);
    expect(await admin.call("POST", `${path}/validate`)).toMatchObject({
      body: { plan: { routes: { added: ids.slice(0, 3), kept: ids.slice(0, LIMITS.configParts) }, more } },
    });
    expect((await admin.call("GET", `${path}/diff?offset=x`)).status).toBe(400);
  });

  it("is told by the first of what it would leave behind, and how many are behind those", async () => {
    const waiting = ids.map((routeId) => ({ store: "outbox", routeId, bindingId: "b", waiting: 1 }) as const);
    const stranding = strandingOf(waiting);
    await using admin = await startTransactional({
      applier: () => ({ ...applier, stranding: () => Promise.resolve(stranding) }),
    });
    const path = await admin.opened({ bridge: { drain_timeout: "6s" } });
    for (const [call, status] of [
      ["validate", 200],
      ["commit", 422],
    ] as const) {
      const answer = await admin.call("POST", `${path}/${call}`);
      expect(answer).toMatchObject({ status, body: { more: { stranded: BINDINGS - LIMITS.configParts } } });
      expect((answer.body as { readonly stranded: object[] }).stranded).toHaveLength(LIMITS.configParts);
    }
    expect(stranding.message).toMatch(/route r-19 and binding b, and 1180 more; let the outbox deliver them/);
    expect(strandingOf(waiting.slice(0, 20)).message).not.toContain(" more");
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
        expect(pages.flatMap((page) => page.shown["routes"])).toEqual(given.routes);
        for (const page of pages) expect(page.shown["bridge"]).toBe(given.bridge);
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
