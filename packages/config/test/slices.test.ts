import { Slices, type Steps, Turns } from "@bridge/ports/internal";
import { describe, expect, it } from "vitest";
import { checkDocument } from "../src/index.ts";
import { changesBetween } from "../src/transaction/changes.ts";
import { mergeOverlay } from "../src/transaction/merge-overlay.ts";
import { newReferences } from "../src/transaction/new-references.ts";
import { redactedView } from "../src/transaction/redacted-view.ts";
import { sources } from "./support/arbitrary-documents.ts";
import type { Json } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

const NEVER = new AbortController().signal;
const ROUTES = 200;

/** Each step takes a millisecond, and so every second one is in a new slice. */
function counted(): { readonly slices: Slices; readonly turns: () => number } {
  let [now, turns] = [0, 0];
  const next = (run: () => void): void => {
    turns++;
    queueMicrotask(run);
  };
  return { slices: new Slices({ monotonic: () => now++, turn: next }, new Turns(next)), turns: () => turns };
}

function documentOf(routes: number, address = "ingest"): Json {
  const all = Array.from({ length: routes }, (_, index) => index);
  return {
    bridge: { id: "plant-7" },
    stores: { dlq: { type: "file", options: { path: "dlq.db" } } },
    sessions: [{ id: "broker", transport: "mqtt", options: { broker_urls: ["mqtt://127.0.0.1:1883"] } }],
    receivers: all.map((n) => ({ id: `in-${n}`, session_id: "broker", topics: [{ topic: `s/${n}`, qos: 1 }] })),
    senders: [{ id: "out", transport: "http", options: { url: "https://example.com" } }],
    bindings: all.map((n) => ({ id: `to-${n}`, sender_id: "out", address: `/${address}/\${env:SITE}/${n}` })),
    routes: all.map((n) => ({ id: `route-${n}`, receiver_id: `in-${n}`, bindings: [`to-${n}`] })),
  };
}

describe("work that grows with the number of routes is done in slices", () => {
  it("checking a document", async () => {
    const { slices, turns } = counted();
    const checked = await checkDocument(documentOf(ROUTES), registry, sources, NEVER, slices);
    expect(checked.ok).toBe(false);
    expect(turns()).toBeGreaterThan(5 * ROUTES);
  });

  it("checking one with more problems than a call takes arguments", { timeout: 60_000 }, async () => {
    const problems = 150_000;
    const unknown = Object.fromEntries(Array.from({ length: problems }, (_, n) => [`unknown_${n}`, 1]));
    const { slices } = counted();
    const checked = await checkDocument({ ...documentOf(1), ...unknown }, registry, sources, NEVER, slices);
    expect(checked.ok ? 0 : checked.problems.length).toBeGreaterThan(1_000);
  });

  it("making the model of a sound one", async () => {
    const document = { ...documentOf(ROUTES), bindings: [], routes: [], receivers: [] };
    const few = counted();
    expect((await checkDocument(document, registry, sources, NEVER, few.slices)).ok).toBe(true);
    const sound = JSON.parse(JSON.stringify(documentOf(ROUTES)).replaceAll("${env:SITE}", "here")) as Json;
    const many = counted();
    expect((await checkDocument(sound, registry, sources, NEVER, many.slices)).ok).toBe(true);
    expect(many.turns()).toBeGreaterThan(few.turns() + 6 * ROUTES);
  });

  it.each<[string, () => Steps<unknown>]>([
    ["merging a patch of one route", () => mergeOverlay(documentOf(ROUTES), { routes: [{ id: "route-7" }] })],
    ["merging one of all", () => mergeOverlay({ bridge: {} }, { routes: documentOf(ROUTES)["routes"] })],
    ["looking for references", () => newReferences(documentOf(ROUTES), documentOf(ROUTES, "other"))],
    ["telling what differs", () => changesBetween(documentOf(ROUTES), documentOf(ROUTES, "other"))],
    ["redacting", () => redactedView(documentOf(ROUTES))],
  ])("%s", async (_, steps) => {
    const { slices, turns } = counted();
    await slices.run(steps());
    expect(turns()).toBeGreaterThan(ROUTES / 2);
  });

  it("ends with its signal", async () => {
    const { slices } = counted();
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(checkDocument(documentOf(ROUTES), registry, sources, gone, slices)).rejects.toThrow("gone");
  });
});
