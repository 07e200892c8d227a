import { describe, expect, it } from "vitest";
import { startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { startTransactional } from "./transactional.ts";

const HALF = "\ud800";
const [NUL, ESC, BELL, C1] = ["\0", "\u001b[2J", "\u0007", "\u009b2J"];
/** Two units of a string. */
const FACE = "\u{1f600}";

interface Place {
  readonly name: string;
  readonly path: string;
  readonly body: (text: string) => object;
  readonly field: string;
  readonly max: number;
  readonly lines?: true;
  readonly erasable?: true;
}

const PLACES: readonly Place[] = [
  {
    name: "a note",
    path: "/dlq/annotate",
    body: (note) => ({ ids: ["e1"], note }),
    field: "note",
    max: 1_000,
    lines: true,
  },
  {
    name: "an assignee",
    path: "/dlq/annotate",
    body: (assignee) => ({ ids: ["e1"], assignee }),
    field: "assignee",
    max: 128,
    erasable: true,
  },
  {
    name: "the reason of a job",
    path: "/dlq/jobs",
    body: (reason) => ({ kind: "redrive", filter: {}, reason }),
    field: "reason",
    max: 500,
  },
  {
    name: "the reason of an edit",
    path: "/dlq/messages/e1/redrive",
    body: (reason) => ({ reason, subject: "shop/42" }),
    field: "reason",
    max: 500,
  },
  {
    name: "the reason of a revert",
    path: "/config/revert",
    body: (reason) => ({ version: 1, reason }),
    field: "reason",
    max: 500,
  },
  {
    name: "the reason of a commit",
    path: "/commit",
    body: (reason) => ({ confirm_within: "5m", reason }),
    field: "reason",
    max: 500,
  },
];

describe.each(PLACES)("$name, as an operator writes it", ({ path, body, field, max, lines, erasable }) => {
  async function answer(text: string) {
    if (path === "/commit" || path === "/config/revert") {
      await using admin = await startTransactional();
      return await admin.call("POST", path === "/commit" ? `${await admin.opened()}/commit` : path, body(text));
    }
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1"));
    return await admin.call("POST", path, body(text));
  }

  it.each<readonly [string, string]>([
    ...[HALF, `a${HALF}b`, "\udc00\ud800"].map((text) => [text, "has half of a character"] as const),
    ...[NUL, ESC, BELL, C1, "a\rb", "a\u007fb"].map((text) => [`x${text}`, "has control characters"] as const),
    ...["\n", "\t"].flatMap((text) => (lines === true ? [] : [[`x${text}y`, "has control characters"] as const])),
    ...[" ", "\u00a0\u2003"].map((text) => [text, "has blanks only"] as const),
    [FACE.repeat(max + 1), `has more than ${max} characters`],
    ["n".repeat(max + 1), `has more than ${max} characters`],
    ...(erasable === true ? [] : [["", "must not be empty"] as const]),
  ])("%#: what cannot be shown or looked for is refused, and the field is named", async (text, why) => {
    expect(await answer(text)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(`${field}: ${why}`) as string },
    });
  });

  it.each([FACE.repeat(max), "n".repeat(max), " ä ", ...(lines === true ? ["one\n\ttwo"] : [])])(
    "%#: characters are counted as people count them",
    async (text) => {
      const { status } = await answer(text);
      expect([400, 404]).not.toContain(status);
    },
  );
});
