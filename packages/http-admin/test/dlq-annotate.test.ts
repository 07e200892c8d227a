import { describe, expect, it } from "vitest";
import { startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const MARKS = { note: "asked the shop team", assignee: "alice", quarantined: true };

describe("operators 1.4: marks", () => {
  it("are shown with the entry wherever it is shown, and can be taken away", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"), deadLetter("e2"));
    expect(await admin.call("POST", "/dlq/annotate", { ids: ["e1", "gone", "e1"], ...MARKS })).toMatchObject({
      status: 200,
      body: { annotated: 1 },
    });
    const shown = {
      assignee: "alice",
      quarantined: true,
      notes: [{ at: expect.stringMatching(/^\d{4}-.*Z$/) as string, by: "admin", text: "asked the shop team" }],
    };
    const listed = async () =>
      ((await admin.call("GET", "/dlq/messages")).body as { messages: readonly object[] }).messages;
    expect(await listed()).toMatchObject([{ id: "e1", ...shown }, { id: "e2" }]);
    expect((await admin.call("GET", "/dlq/messages/e1")).body).toMatchObject(shown);
    await admin.call("POST", "/dlq/annotate", { ids: ["e1"], assignee: "", quarantined: false });
    const [first = {}, second = {}] = await listed();
    expect(Object.keys(first).filter((key) => !Object.hasOwn(second, key))).toEqual(["notes"]);
    for (const field of ["assignee", "quarantined", "notes", "redrives"]) expect(second).not.toHaveProperty(field);
  });

  it("the last 20 notes stay", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    for (let n = 0; n < 22; n++) await admin.call("POST", "/dlq/annotate", { ids: ["e1"], note: `${n}` });
    const { notes } = (await admin.call("GET", "/dlq/messages/e1")).body as { notes: { text: string }[] };
    expect(notes.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, n) => `${n + 2}`));
  });

  it("an entry that is kept back is not redriven, and can be deleted", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    await admin.call("POST", "/dlq/annotate", { ids: ["e1"], quarantined: true });
    expect(await admin.call("POST", "/dlq/redrive", { ids: ["e1"] })).toMatchObject({
      status: 207,
      body: { redriven: 0, failed: 1, errors: [{ id: "e1", error: "entry is quarantined" }] },
    });
    expect((await admin.call("POST", "/dlq/delete", { ids: ["e1"] })).body).toEqual({ deleted: 1 });
  });

  it.each<[object, string]>([
    [{ ids: ["e1"] }, "invalid request body: give note, assignee or quarantined"],
    [{ ids: [], note: "n" }, "ids: must not be empty"],
    [{ ids: Array.from({ length: 1_001 }, (_, n) => `${n}`), note: "n" }, "ids: has more than 1000 ids"],
    [{ ids: ["e1"], note: "" }, "note: must not be empty"],
    [{ ids: ["e1"], note: "n".repeat(1_001) }, "note: has more than 1000 characters"],
    [{ ids: ["e1"], assignee: "a".repeat(129) }, "assignee: has more than 128 characters"],
    [{ ids: ["e1"], assignee: "a\nb" }, "assignee: has control characters"],
    [{ ids: ["e1"], assignee: null }, "assignee: expected a string"],
    [{ ids: ["e1"], quarantined: "yes" }, "quarantined: expected true or false"],
    [{ ids: ["e1"], quarantined: true, by: "bob" }, "by: unknown field"],
  ])("%#: a body that is not understood is refused, and marks nothing", async (body, error) => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    expect(await admin.call("POST", "/dlq/annotate", body)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(error) as string },
    });
    expect(admin.events).toMatchObject([{ action: "dlq.annotate", outcome: "failure" }]);
  });

  it("the audit log says who marked what, and nothing of what a note says", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    await admin.call("POST", "/dlq/annotate", { ids: ["e1", "gone"], ...MARKS });
    expect(admin.events).toMatchObject([
      {
        action: "dlq.annotate.begin",
        outcome: "pending",
        detail: { ids: ["e1", "gone"], note: true, assignee: "alice", quarantined: true },
      },
      {
        action: "dlq.annotate",
        outcome: "success",
        actor: "admin",
        detail: { ids: ["e1"], requested: 2, annotated: 1, note: true, assignee: "alice", quarantined: true },
      },
    ]);
    expect(JSON.stringify(admin.events)).not.toContain("shop team");
  });

  it("of a store that keeps none are 404", async () => {
    await using admin = await startAdmin({ store: "read-only" });
    expect(await admin.call("POST", "/dlq/annotate", { ids: ["e1"], note: "n" })).toMatchObject({
      status: 404,
      body: { error: "the DLQ store cannot do that" },
    });
  });
});
