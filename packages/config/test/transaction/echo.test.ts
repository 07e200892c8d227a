import { atOnce, Slices } from "@bridge/ports/internal";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkDocument, formatProblem } from "../../src/index.ts";
import { changesBetween } from "../../src/transaction/changes.ts";
import { mergeOverlay } from "../../src/transaction/merge-overlay.ts";
import { redactedView } from "../../src/transaction/redacted-view.ts";
import { CANARY, documents, sources } from "../support/arbitrary-documents.ts";
import type { Json } from "../support/documents.ts";
import { registry } from "../support/plugins.ts";

/** What is escaped is none. */
const REFERENCE = /(?<!\$)\$\{/;
const NEVER = new AbortController().signal;

async function problemsOf(document: unknown): Promise<readonly string[]> {
  const checked = await checkDocument(document, registry, sources, NEVER);
  return checked.ok ? [] : checked.problems.map(formatProblem);
}

function overTheWire(view: unknown): Json {
  return JSON.parse(JSON.stringify(view)) as Json;
}

describe("any valid configuration", () => {
  it("is what the other properties think it is", async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        expect(await problemsOf(document)).toEqual([]);
      }),
    );
  });

  it("finding 5.7: has the same view when that is made in slices", async () => {
    let now = 0;
    const turn = (run: () => void): void => queueMicrotask(run);
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        const slices = new Slices({ monotonic: () => now++, turn });
        expect(JSON.stringify(await slices.run(redactedView(document)))).toBe(
          JSON.stringify(atOnce(redactedView(document))),
        );
      }),
    );
  });

  it("does not change when its view is sent back", () => {
    fc.assert(
      fc.property(documents, (document) => {
        const before = structuredClone(document);
        expect(atOnce(mergeOverlay(document, overTheWire(atOnce(redactedView(document)))))).toBe(document);
        expect(document).toEqual(before);
      }),
    );
  });

  it("shows none of its secrets, references and options", () => {
    fc.assert(
      fc.property(documents, (document) => {
        const text = JSON.stringify(atOnce(redactedView(document)));
        expect(text).not.toContain(CANARY);
        expect(text).not.toMatch(REFERENCE);
        expect(text).not.toContain('"password"');
      }),
    );
  });

  it("shows what is in force: sending the view of one configuration to another makes the two alike, but for what is hidden", () => {
    fc.assert(
      fc.property(documents, documents, (one, other) => {
        let merged: Json;
        try {
          merged = atOnce(mergeOverlay(one, overTheWire(atOnce(redactedView(other)))));
        } catch (error) {
          // The marker of another configuration stands for nothing here.
          expect((error as Error).message).toContain("[REDACTED], which stands for no value here");
          return;
        }
        const again = atOnce(mergeOverlay(merged, overTheWire(atOnce(redactedView(other)))));
        expect(again).toEqual(merged);
        const [said, meant] = [atOnce(redactedView(merged)), atOnce(redactedView(other))];
        expect((said["bridge"] as Json)["log_level"]).toEqual((meant["bridge"] as Json)["log_level"]);
        const routes = said["routes"] as readonly Json[];
        for (const route of meant["routes"] as readonly Json[])
          expect(routes.find(({ id }) => id === route["id"])?.["policy"]).toEqual(route["policy"]);
        // Merge-only: what was there is there.
        expect(routes.length).toBeGreaterThanOrEqual((one["routes"] as readonly Json[]).length);
        for (const part of ["stores", "sessions", "senders", "processors"]) expect(merged[part]).toEqual(one[part]);
      }),
    );
  });

  it("and another one: no difference shows what must not be seen, and there is one where their views differ", () => {
    fc.assert(
      fc.property(documents, documents, (one, other) => {
        const changes = atOnce(changesBetween(one, other));
        expect(JSON.stringify(changes)).not.toContain(CANARY);
        expect(JSON.stringify(changes)).not.toMatch(REFERENCE);
        const views = [one, other].map((document) =>
          JSON.stringify({ ...atOnce(redactedView(document)), config_version: 0 }),
        );
        if (views[0] !== views[1]) expect(changes.length).toBeGreaterThan(0);
        expect(atOnce(changesBetween(one, structuredClone(one)))).toEqual([]);
      }),
    );
  });
});
