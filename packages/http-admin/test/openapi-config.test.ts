import { Documented, type OpenApiDocument } from "@bridge/http-kit/documented";
import { announce } from "@bridge/tooling/announce";
import { expect, it } from "vitest";
import { ADMIN_KEY, TOO_LARGE } from "./admin.ts";
import { problemWith } from "./json-schema.ts";
import { applierWith, startTransactional, storeWith, type Transactional } from "./transactional.ts";

const ALL = "/api/v1/admin/config";
const ONE = `${ALL}/transactions/{txnID}`;

const [CONFIRM, REVERT] = [`POST ${ALL}/confirm`, `POST ${ALL}/revert`];

/** Each endpoint of the configuration with the statuses that are shown here, besides 401 and 429. */
const SHOWN = {
  [`GET ${ALL}`]: [200, 503],
  [`GET ${ALL}/document`]: [200, 404, 503],
  [`GET ${ALL}/history`]: [200, 404],
  [CONFIRM]: [200, 400, 409, 413],
  [REVERT]: [200, 400, 409, 413],
  [`POST ${ALL}/transactions`]: [201, 400, 404, 409, 413, 503],
  [`GET ${ONE}`]: [200, 404],
  [`PATCH ${ONE}`]: [200, 400, 404, 409, 413],
  [`PUT ${ONE}/document`]: [200, 400, 404, 409, 413],
  [`GET ${ONE}/diff`]: [200, 404, 409],
  [`POST ${ONE}/validate`]: [200, 404, 409, 413],
  [`POST ${ONE}/commit`]: [200, 202, 404, 409, 413, 422, 500],
  [`DELETE ${ONE}`]: [200, 404, 409, 413],
};
const PUT = `PUT ${ONE}/document`;
const OPERATIONS = Object.keys(SHOWN);
const SOUND = { bridge: { log_level: "debug" }, routes: [{ id: "new", receiver_id: "in", bindings: ["fan"] }] };

it("every answer about the configuration is as the OpenAPI document says", async () => {
  await using admin = await startTransactional();
  const text = await (await fetch(`${admin.url}/api/v1/openapi.json`, { headers: { "X-API-Key": ADMIN_KEY } })).text();
  const documented = new Documented(JSON.parse(text) as OpenApiDocument, problemWith);
  expect(documented.operations.filter((operation) => operation.includes(ALL)).toSorted()).toEqual(
    OPERATIONS.toSorted(),
  );
  const hold = async (
    on: Transactional,
    operation: string,
    path = "",
    body?: unknown,
    key = ADMIN_KEY,
  ): Promise<void> => {
    const [method = "", template = ""] = operation.split(" ");
    const headers = { "X-API-Key": key };
    const init = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const url =
      on.url + template.replace("/config/transactions/{txnID}", path === "" ? "/config/transactions/x" : path);
    const ask = body === TOO_LARGE ? announce(url, { method, headers }) : fetch(url, { method, headers, ...init });
    await documented.hold(operation, await ask);
  };
  const holdAll = async (on: Transactional, path?: string, body?: unknown, key?: string): Promise<void> => {
    for (const operation of OPERATIONS) {
      const sent = operation === PUT && body !== TOO_LARGE && body !== undefined ? { text: "{}" } : body;
      await hold(on, operation, path, operation.startsWith("GET") ? undefined : sent, key);
    }
  };
  const commit = `POST ${ONE}/commit`;
  await hold(admin, `POST ${ALL}/transactions`, "", { from_version: 7 });

  // All is well; nothing is open; too much is sent, or nonsense; another one is open.
  await holdAll(admin, await admin.opened(SOUND), {});
  await holdAll(admin);
  await admin.call("DELETE", await lastOpened(admin));
  const path = await admin.opened({ bridge: { log_level: "loud" } });
  await holdAll(admin, path, TOO_LARGE);
  await hold(admin, `PATCH ${ONE}`, path, "{");
  await hold(admin, `POST ${ALL}/transactions`, path, "{");
  await hold(admin, PUT, path, { text: "bridge: {" });

  // It is invalid, would erase options, runs later, runs, is in the history, has a conflict.
  await hold(admin, `PATCH ${ONE}`, path, {
    stores: { dlq: { type: "read-only" } },
    routes: [{ id: "alarms", bindings: ["x"] }],
  });
  await hold(admin, `POST ${ONE}/validate`, path);
  await hold(admin, commit, path);
  await hold(admin, `PATCH ${ONE}`, path, { stores: { dlq: { type: "memory" } } });
  await hold(admin, commit, path);
  await hold(admin, `DELETE ${ONE}`, path);
  const sound = { bridge: { log_level: "debug" } };
  const runs = await admin.opened(sound);
  await hold(admin, `POST ${ONE}/validate`, runs);
  await hold(admin, commit, runs);
  await admin.call("POST", "/bridge/stop");
  await hold(admin, commit, await admin.opened({ bridge: { log_level: "warn" } }));
  await hold(admin, `GET ${ALL}/history`);
  await admin.call("POST", "/bridge/start");
  for (const [way, body] of [
    [CONFIRM, {}],
    [REVERT, { reason: "too loud" }],
  ] as const) {
    const tried = await admin.opened({ bridge: { log_level: way === CONFIRM ? "info" : "error" } });
    await hold(admin, commit, tried, { confirm_within: "1m", reason: "to see", guard: { level: "full" } });
    await hold(admin, `GET ${ALL}`);
    const { version } = ((await admin.call("GET", "/config")).body as { probation: { version: number } }).probation;
    await hold(admin, way, "", { version, ...body });
    await hold(admin, way, "", { version, ...body });
    await hold(admin, `GET ${ALL}/history`);
  }
  await hold(admin, CONFIRM, "", { version: -1 });
  const stale = await admin.opened(sound);
  admin.held.replace({ bridge: { id: "by-hand" } });
  await hold(admin, commit, stale);

  // It cannot be applied, nor undone; while it is on its way, nobody may touch it.
  const go = Promise.withResolvers<"applied">();
  await using broken = await startTransactional({
    applier: applierWith(() => go.promise),
    store: storeWith({ restore: () => Promise.reject(new Error("no")) }),
  });
  const busy = await broken.opened(sound);
  const committing = hold(broken, commit, busy);
  await expect.poll(async () => (await broken.call("PATCH", busy, {})).status).toBe(409);
  await holdAll(broken, busy, {});
  go.reject(new Error("no"));
  await committing;
  await using undone = await startTransactional({ applier: applierWith(() => Promise.reject(new Error("no"))) });
  await hold(undone, commit, await undone.opened(sound));

  // There is none, and no history of it; nobody has a key.
  await using none = await startTransactional({
    document: undefined,
    store: (store) => {
      const { history: _, ...rest } = storeWith({})(store);
      return rest;
    },
  });
  await holdAll(none);
  await using textless = await startTransactional({
    store: (store) => {
      const { texts: _, ...rest } = storeWith({})(store);
      return rest;
    },
  });
  await hold(textless, `GET ${ALL}/document`);
  await using strange = await startTransactional({ throttle: { limit: OPERATIONS.length } });
  for (let n = 0; n < 2; n++) await holdAll(strange, "", undefined, "another-key-0123456789");

  const shown = Object.entries(SHOWN).flatMap(([operation, statuses]) =>
    [...statuses, 401, 429].map((status) => `${operation} ${status}`),
  );
  expect(shown.filter((answer) => !documented.seen.has(answer))).toEqual([]);
});

async function lastOpened(admin: Transactional): Promise<string> {
  const { body } = await admin.call("POST", "/config/transactions");
  const [, id = ""] = /transaction (\S+) is open/.exec((body as { error?: string }).error ?? "") ?? [];
  return `/config/transactions/${id}`;
}

it("finding 6.14: what is sent is described as it is read", async () => {
  await using admin = await startTransactional();
  const text = await (await fetch(`${admin.url}/api/v1/openapi.json`, { headers: { "X-API-Key": ADMIN_KEY } })).text();
  const { paths, servers } = JSON.parse(text) as {
    readonly servers: unknown;
    readonly paths: Record<string, Record<string, { requestBody: { content: Record<string, { schema: object }> } }>>;
  };
  const schemaOf = (path: string, method: string): object =>
    paths[path]?.[method]?.requestBody.content["application/json"]?.schema ?? {};
  expect(servers).toMatchObject([{ url: "/" }]);
  const open = schemaOf(`${ALL}/transactions`, "post");
  expect(
    [{ ttl: "10m" }, {}, { ttl: "soon" }, { ttl: "" }].map((body) => problemWith(open, body) === undefined),
  ).toEqual([true, true, false, false]);
  const inject = schemaOf("/api/v1/admin/routes/{routeID}/inject", "post");
  const payloads = ["", "aGk=", "aGkh", "aGk", "a", "a-_=", "===="];
  expect(payloads.map((payload) => problemWith(inject, { subject: "s", payload }) === undefined)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  const patch = schemaOf(ONE, "patch");
  const { body } = await admin.call("GET", "/config");
  const overlays = [
    SOUND,
    (body as { config: object }).config,
    {
      bridge: { id: "[REDACTED]", drain_timeout: "${env:X}" },
      routes: [{ id: "r", policy: { max_in_flight: "${env:N}" } }],
    },
    { bridge: { log_levl: "debug" } },
    { senders: [{ id: "s", options: {} }] },
    { routes: [{ bindings: ["x"] }] },
    { bridge: null },
  ];
  expect(overlays.map((overlay) => problemWith(patch, overlay) === undefined)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
