import { spoiled } from "@bridge/tooling/spoiled";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "./admin.ts";
import { deadLetter, keep } from "./bridge.ts";
import { problemWith } from "./json-schema.ts";
import { startTransactional, type Transactional } from "./transactional.ts";

interface Described {
  readonly components: unknown;
  readonly paths: Readonly<
    Record<string, Record<string, { requestBody?: { content: Record<string, { schema: object }> } }>>
  >;
}

const ID = "e1";
/** Good bodies of each endpoint that takes one, with everything that they may hold. */
const BODIES: Readonly<Record<string, readonly object[]>> = {
  "post /api/v1/admin/routes/{routeID}/inject": [
    { subject: "s", payload: "aGk=", headers: { a: "b", c: "" }, id: "m-1" },
    { subject: "s" },
  ],
  "post /api/v1/admin/dlq/redrive": [{ ids: [ID, "e2"] }],
  "post /api/v1/admin/dlq/delete": [{ ids: [ID, "e2"] }],
  "post /api/v1/admin/dlq/delete-by-filter": [
    {
      route_id: "alarms",
      category: "rejected",
      since: "2026-01-31T08:00:00Z",
      before: "2026-02-01T08:00:00.5+01:00",
      limit: 1,
      confirm_delete_all: true,
    },
  ],
  "post /api/v1/admin/dlq/annotate": [
    { ids: [ID], note: "asked", assignee: "alice", quarantined: true },
    { ids: [ID], assignee: "" },
  ],
  "post /api/v1/admin/dlq/messages/{id}/redrive": [
    { reason: "fixed by hand", subject: "s", content_type: "", payload: "aGk=" },
    { reason: "fixed by hand", headers: { a: "b" }, remove_headers: ["c"], binding_id: "alarms" },
  ],
  "post /api/v1/admin/dlq/purge": [{ confirm_purge_all: true }],
  "post /api/v1/admin/config/transactions": [{ ttl: "10m" }],
  "patch /api/v1/admin/config/transactions/{txnID}": [
    {
      config_version: 1,
      bridge: { id: "b", drain_timeout: "10s", log_level: "debug" },
      http: { admin_addr: ":0", cors_origins: "" },
      audit: { log: false, file: { max_bytes: 5000 } },
      telemetry: { otlp: { headers: { a: "[REDACTED]" }, traces: { sample_ratio: 0.5 } } },
      stores: { dlq: { type: "memory" } },
      receivers: [{ id: "in", topics: [{ topic: "a", qos: 1 }], session_id: "" }],
      senders: [{ id: "out", rate_limit: { messages_per_second: 1 } }],
      bindings: [{ id: "fan", address: "x" }],
      routes: [
        {
          id: "alarms",
          bindings: ["fan"],
          resolver: {
            type: "rules",
            rules: [{ when: [{ field: "subject", op: "in", value: ["a", 1, true] }], binding: "fan" }],
            default_binding: ["fan"],
          },
          policy: { max_in_flight: 5, allow_unfenced: false, backoff: { multiplier: 1.5 } },
        },
        { id: "other", resolver: { type: "header_map", header: "a", map: { x: "fan", y: ["fan"] } } },
      ],
    },
  ],
};

/** What no schema says of a body, and the server answers 400 for. */
const BEYOND_SHAPE: readonly (readonly [reason: string, error: RegExp])[] = [
  ["JSON Schema has no calendar: `format` is an annotation", /expected an RFC 3339 timestamp/],
  ["a sum over all headers", /characters in all/],
  ["an empty filter has to be confirmed", /an empty filter matches every entry/],
  ["UTF-16 units of characters that have two", /has more than \d+ characters/],
  ["names that read as the bridge's own, in any spelling", /own headers cannot be given/],
  ["the name of a header that is none", /a name is empty/],
  ["what stands for a value that was not shown", /\[REDACTED\]/],
  ["texts that are no Unicode", /has half of a character/],
  ["the bindings of the entry's route", /has no binding/],
  ["the headers that the entry has already", /the message would have/],
  ["a part of an earlier or a stored configuration", /stands for no value here|references? /],
  ["a sum of parts of a duration, and a tenth of a unit beside a bound", /ttl: must be longer/],
];

describe("finding 6.14: bodies of the admin server", () => {
  let admin: Transactional;
  let described: Described;
  beforeAll(async () => {
    admin = await startTransactional();
    const headers = { "X-API-Key": ADMIN_KEY };
    described = (await (await fetch(`${admin.url}/api/v1/openapi.json`, { headers })).json()) as Described;
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  const send = async (operation: string, body: object): Promise<{ status: number; error: string }> => {
    const [method = "", template = ""] = operation.split(" ");
    const txn = template.includes("{txnID}") ? await admin.opened() : "";
    const path = template
      .replace("{routeID}", "alarms")
      .replace("/config/transactions/{txnID}", txn)
      .replace("/api/v1/admin", "");
    const { status, body: answer } = await admin.call(method.toUpperCase(), path, body);
    const { error = "", txn_id: opened } = answer as { error?: string; txn_id?: string };
    const left = txn !== "" ? txn : opened === undefined ? "" : `/config/transactions/${opened}`;
    if (left !== "") await admin.call("DELETE", left);
    return { status, error };
  };

  it.each(Object.entries(BODIES))(
    "of %s: what the schema refuses the server answers 4xx, and 400 only to that",
    async (operation, bodies) => {
      const [method = "", template = ""] = operation.split(" ");
      const own = described.paths[template]?.[method]?.requestBody?.content["application/json"]?.schema;
      const schema = { components: described.components, ...own };
      for (const body of bodies) {
        expect(problemWith(schema, body)).toBeUndefined();
        expect(await send(operation, body)).not.toMatchObject({ status: 400 });
      }
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(spoiled(bodies as never), async (body) => {
          if (operation.includes("dlq")) await keep(admin, deadLetter(ID));
          const problem = problemWith(schema, body);
          const { status, error } = await send(operation, body);
          if (problem !== undefined) {
            refused++;
            expect([status, problem]).toEqual([400, problem]);
          } else if (status === 400) {
            const excuse = BEYOND_SHAPE.find(([, words]) => words.test(error));
            expect([excuse !== undefined, error]).toEqual([true, error]);
          } else expect(status).toBeLessThan(500);
        }),
        { numRuns: 60, seed: 614 },
      );
      expect(refused).toBeGreaterThan(5);
    },
    60_000,
  );
});
