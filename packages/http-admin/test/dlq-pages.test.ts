import type { DeadLetter, MarkChange } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Admin, startAdmin } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;

interface Page {
  readonly messages: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly next_cursor?: string;
  readonly prev_cursor?: string;
  readonly scanned?: number;
}

async function page(admin: Admin, query: string): Promise<Page> {
  const { status, body } = await admin.call("GET", `/dlq/messages?${query}`);
  expect([status, body]).toMatchObject([200, {}]);
  return body as Page;
}

const idsOf = ({ messages }: Page): string[] => messages.map(({ id }) => id);

async function mark(admin: Admin, id: string, change: MarkChange): Promise<void> {
  await admin.supervisor.dlq()?.marks?.mark(new Map([[id, change]]), AbortSignal.timeout(10_000));
}

/** Each page from a first one on, in the way of `cursor`. */
async function follow(admin: Admin, query: string, cursor: "next_cursor" | "prev_cursor"): Promise<Page[]> {
  const pages = [await page(admin, query)];
  const limit = new URLSearchParams(query).get("limit") ?? "100";
  for (let at = pages[0]?.[cursor]; at !== undefined; at = pages.at(-1)?.[cursor])
    pages.push(await page(admin, `cursor=${at}&limit=${limit}`));
  return pages;
}

describe("operators 1.1: an entry", () => {
  it("counts redrives before it was written and after, and shows how the last one ended", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("e1", { causationId: "m-0", redrives: 2 }), deadLetter("e2"));
    const redrives = async (): Promise<unknown[]> => {
      const { body } = await admin.call("GET", "/dlq/messages");
      return (body as { messages: { redrives?: unknown }[] }).messages.map((entry) => entry.redrives);
    };
    expect(await redrives()).toEqual([{ count: 2 }, undefined]);
    const redriven = { lastAt: NOON + HOUR, lastCode: "TIMEOUT", lastError: "no answer" } as const;
    await mark(admin, "e1", { redriven: { ...redriven, jobId: "job-7", jobTry: 1 } });
    await mark(admin, "e2", { redriven });
    const last = { last_at: "2026-01-01T13:00:00.000Z", last_code: "TIMEOUT", last_error: "no answer" };
    expect(await redrives()).toEqual([
      { count: 3, ...last, job_id: "job-7" },
      { count: 1, ...last },
    ]);
  });
});

describe("operators 1.2: the filter", () => {
  const entries: readonly DeadLetter[] = [
    deadLetter("a", { bindingId: "", errorCode: "TIMEOUT", category: "transient", correlationId: "c" }),
    deadLetter("b", { subject: "boiler/8", lastError: "the target said something else" }),
    deadLetter("c", { routeId: "fan", bindingId: "to-a" }),
  ];

  it.each<[string, string[]]>([
    ["binding_id=to-a", ["c"]],
    ["binding_id=", ["a"]],
    ["error_code=TIMEOUT", ["a"]],
    ["envelope_id=envelope-b", ["b"]],
    ["correlation_id=c", ["a"]],
    ["subject_prefix=boiler/8", ["b"]],
    ["subject_prefix=boiler", ["a", "b", "c"]],
    ["assignee=alice", ["b"]],
    ["assignee=", ["a", "c"]],
    ["quarantined=true", ["c"]],
    ["quarantined=false&route_id=alarms", ["a", "b"]],
    ["job_id=job-7", ["a"]],
    ["job_id=job-8", []],
    ["route_id=alarms&category=rejected&binding_id=alarms", ["b"]],
  ])("%s", async (query, ids) => {
    await using admin = await startAdmin();
    await keep(admin, ...entries);
    await mark(admin, "a", { redriven: { lastAt: NOON, lastCode: "TIMEOUT", lastError: "late", jobId: "job-7" } });
    await mark(admin, "b", { assignee: "alice" });
    await mark(admin, "c", { quarantined: true });
    expect(idsOf(await page(admin, query))).toEqual(ids);
    expect(idsOf(await page(admin, `${query}&sort=newest`))).toEqual(ids.toReversed());
    const { body } = await admin.call("GET", `/dlq/summary?${query}`);
    expect(body).toMatchObject({ total: ids.length });
  });

  it("by fingerprint", async () => {
    await using admin = await startAdmin();
    await keep(admin, ...entries);
    const { body } = await admin.call("GET", "/dlq/messages");
    const prints = (body as { messages: { id: string; fingerprint: string }[] }).messages;
    expect(new Set(prints.map(({ fingerprint }) => fingerprint)).size).toBe(3);
    for (const { id, fingerprint } of prints)
      expect(idsOf(await page(admin, `fingerprint=${fingerprint}`))).toEqual([id]);
  });

  it.each([
    ["quarantined=yes", "quarantined: expected true or false"],
    ["error_code=nothing", "error_code: expected one of TIMEOUT, "],
    ["fingerprint=", "fingerprint: expected 16 hexadecimal digits"],
    ["job_id=", "job_id: is empty"],
    ["sort=best", "sort: expected oldest or newest"],
    ["binding_id=a&binding_id=b", "binding_id: is given 2 times"],
    ["assignee=a&offset=1", "offset: only route_id, category, since and before go with it"],
    ["sort=newest&offset=1", "offset: only route_id, category, since and before go with it"],
  ])("%s is refused", async (query, error) => {
    await using admin = await startAdmin();
    expect(await admin.call("GET", `/dlq/messages?${query}`)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(error) as string },
    });
  });
});

describe("interface 4.3: values of a filter", () => {
  const long = "x".repeat(1_025);
  it.each([
    ["fingerprint", "4BE19F07C2A1D533"],
    ["fingerprint", "x"],
    ["binding_id", long.slice(768)],
    ["envelope_id", long],
    ["correlation_id", long],
    ["subject_prefix", long],
    ["assignee", long.slice(768)],
    ["job_id", long.slice(768)],
  ])("%s: a value that nothing can have is refused wherever it is given", async (name, value) => {
    await using admin = await startAdmin();
    const query = `${name}=${value}`;
    const order = { kind: "redrive", reason: "it is back", filter: { [name]: value } };
    const answers = await Promise.all([
      admin.call("GET", `/dlq/messages?${query}`),
      admin.call("GET", `/dlq/summary?${query}`),
      admin.call("GET", `/dlq/export?${query}`),
      admin.call("POST", "/dlq/jobs", order),
    ]);
    const refused = { status: 400, body: { error: expect.stringContaining(`${name}: `) as string } };
    expect(answers).toMatchObject(answers.map(() => refused));
  });
});

describe("operators 1.3: pages by key", () => {
  it.each(["oldest", "newest"] as const)(
    "go past entries whose id or time somebody has changed to what no request would take, %s first",
    async (sort) => {
      await using admin = await startAdmin();
      const ids = ["a", "\u00e9".repeat(35_000), `x${"\u00e9".repeat(35_000)}`, "y", "z"];
      await keep(admin, ...ids.map((id) => deadLetter(id, { failedAt: NOON })));
      await keep(admin, deadLetter("b", { failedAt: -1e15 }), deadLetter("c", { failedAt: 2 ** 63 }));
      const all = ["b", "a", "x", "y", "z", "\u00e9", "c"];
      const forward = await follow(admin, `sort=${sort}&limit=1`, "next_cursor");
      const first = (pages: readonly Page[]) => pages.flatMap(idsOf).map((id) => id.slice(0, 1));
      expect(first(forward)).toEqual(sort === "oldest" ? all : all.toReversed());
      const last = forward.at(-1)?.prev_cursor;
      expect(first(await follow(admin, `cursor=${last}&limit=1`, "prev_cursor"))).toEqual(
        first(forward).toReversed().slice(1),
      );
    },
  );

  it("go forward and back over any entries, each once, in either order, while others come and go", async () => {
    await using admin = await startAdmin();
    const signal = AbortSignal.timeout(60_000);
    const store = admin.supervisor.dlq();
    const id = fc.integer({ min: 0, max: 99 }).map((n) => `e${n}`);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ id, hour: fc.integer({ min: 0, max: 2 }), mine: fc.boolean() }), {
          selector: (entry) => entry.id,
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom("oldest", "newest"),
        fc.array(id, { maxLength: 5 }),
        async (made, limit, sort, gone) => {
          await store?.admin?.deleteWhere({}, undefined, signal);
          for (const { id: name, hour, mine } of made)
            await keep(admin, deadLetter(name, { failedAt: NOON + hour * HOUR, subject: mine ? "mine" : "other" }));
          const wanted = made
            .filter(({ mine }) => mine)
            .toSorted((a, b) => a.hour - b.hour || (a.id < b.id ? -1 : 1))
            .map((entry) => entry.id);
          if (sort === "newest") wanted.reverse();
          const query = `subject_prefix=mine&limit=${limit}`;
          const first = await page(admin, `${query}&sort=${sort}`);
          expect(first.prev_cursor).toBeUndefined();
          const pages = [first];
          for (let at = first.next_cursor; at !== undefined; at = pages.at(-1)?.next_cursor)
            pages.push(await page(admin, `${query}&cursor=${at}`));
          expect(pages.flatMap(idsOf)).toEqual(wanted);
          for (const { has_more: more, next_cursor: next } of pages) expect(more).toBe(next !== undefined);
          // Cursors are good though their entries are gone.
          const left = new Set(gone);
          await store?.admin?.delete([...left], signal);
          const back: string[] = [];
          for (let at = pages.at(-1)?.prev_cursor; at !== undefined;) {
            const before = await page(admin, `${query}&cursor=${at}`);
            back.unshift(...idsOf(before));
            at = before.prev_cursor;
          }
          const behind = pages.slice(0, -1).flatMap(idsOf);
          expect(back).toEqual(behind.filter((name) => !left.has(name)));
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);

  it("come back to where they were, from a page of either way", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 7; n++) await keep(admin, deadLetter(`e${n}`));
    const forward = await follow(admin, "sort=newest&limit=3", "next_cursor");
    expect(forward.map(idsOf)).toEqual([["e6", "e5", "e4"], ["e3", "e2", "e1"], ["e0"]]);
    const middle = await page(admin, `cursor=${forward[2]?.prev_cursor}&limit=3`);
    expect(idsOf(middle)).toEqual(["e3", "e2", "e1"]);
    expect(idsOf(await page(admin, `cursor=${middle.next_cursor}&limit=3`))).toEqual(["e0"]);
    const start = await page(admin, `cursor=${middle.prev_cursor}&limit=3`);
    expect([idsOf(start), start.prev_cursor]).toEqual([["e6", "e5", "e4"], undefined]);
  });

  it("an empty page in between leads back to both sides", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 4; n++) await keep(admin, deadLetter(`e${n}`));
    const { next_cursor: next } = await page(admin, "sort=oldest&limit=2");
    await admin.call("POST", "/dlq/delete", { ids: ["e2", "e3"] });
    const end = await page(admin, `cursor=${next}&limit=2`);
    expect([idsOf(end), end.has_more]).toEqual([[], false]);
    const back = await page(admin, `cursor=${end.prev_cursor}&limit=2`);
    expect([idsOf(back), back.prev_cursor]).toEqual([["e0", "e1"], undefined]);
  });

  it("without sort and cursor the answer is today's, with the two cursors", async () => {
    await using admin = await startAdmin();
    for (let n = 0; n < 5; n++) await keep(admin, deadLetter(`e${n}`));
    const first = await page(admin, "limit=2");
    expect(first).toMatchObject({ limit: 2, offset: 0, has_more: true });
    expect([idsOf(first), first.prev_cursor, first.scanned]).toEqual([["e0", "e1"], undefined, undefined]);
    expect(idsOf(await page(admin, `cursor=${first.next_cursor}`))).toEqual(["e2", "e3", "e4"]);
    const second = await page(admin, "limit=2&offset=2");
    expect(idsOf(await page(admin, `cursor=${second.prev_cursor}`))).toEqual(["e0", "e1"]);
    const beyond = await page(admin, "offset=9");
    expect([idsOf(beyond), beyond.has_more, beyond.next_cursor]).toEqual([[], false, undefined]);
    expect(idsOf(await page(admin, `cursor=${beyond.prev_cursor}&limit=2`))).toEqual(["e3", "e4"]);
  });

  it("a page that looks at too many is short, and has a next one", async () => {
    await using admin = await startAdmin();
    const store = admin.supervisor.dlq();
    const signal = AbortSignal.timeout(60_000);
    for (let n = 0; n < 10_050; n++)
      await store?.put(
        deadLetter(`e${String(n).padStart(5, "0")}`, { subject: n === 10_020 ? "mine" : "other" }),
        signal,
      );
    const pages = await follow(admin, "subject_prefix=mine", "next_cursor");
    expect(pages.map(idsOf)[0]).toEqual([]);
    expect(pages[0]).toMatchObject({ has_more: true, scanned: 10_000 });
    const second = await page(admin, `subject_prefix=mine&cursor=${pages[0]?.next_cursor}`);
    expect([idsOf(second), second.has_more]).toEqual([["e10020"], false]);
    const before = await page(admin, `subject_prefix=mine&cursor=${second.prev_cursor}`);
    expect(idsOf(before)).toEqual([]);
    expect(idsOf(await page(admin, `subject_prefix=mine&cursor=${before.next_cursor}`))).toEqual(["e10020"]);
  }, 60_000);

  it("a cursor that is none, of another order, or with an offset is refused", async () => {
    await using admin = await startAdmin();
    await keep(admin, deadLetter("a"), deadLetter("b"));
    const { next_cursor: next = "" } = await page(admin, "sort=oldest&limit=1");
    const none = "invalid query: cursor: is not one of this list";
    for (const [query, error] of [
      ["cursor=x", none],
      [`cursor=${next}=`, none],
      [`cursor=${Buffer.from("2|o|f|1|a").toString("base64url")}`, none],
      [`cursor=${Buffer.from("1|o|f|x|a").toString("base64url")}`, none],
      [`cursor=${next}&sort=newest`, none],
      [`cursor=${next}&offset=1`, "invalid query: offset: give either a cursor or an offset"],
      ["cursor=", "invalid query: cursor: is empty: give a value, or leave the parameter out"],
    ])
      expect([query, await admin.call("GET", `/dlq/messages?${query}`)]).toMatchObject([
        query,
        { status: 400, body: { error } },
      ]);
    expect(idsOf(await page(admin, `cursor=${next}&sort=oldest`))).toEqual(["b"]);
  });

  it("of a store that has none are 404, and lists go on without cursors", async () => {
    await using admin = await startAdmin({ store: "read-only" });
    await keep(admin, deadLetter("a"), deadLetter("b"));
    for (const query of ["sort=newest", "assignee=alice"])
      expect(await admin.call("GET", `/dlq/messages?${query}`)).toMatchObject({
        status: 404,
        body: { error: "the DLQ store cannot do that" },
      });
    const first = await page(admin, "limit=1");
    expect([idsOf(first), first.has_more, first.next_cursor]).toEqual([["a"], true, undefined]);
  });
});
