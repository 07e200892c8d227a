import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { createKeyring, serve } from "../src/index.ts";
import { openEndpoint, startServer, thingEndpoints } from "./server.ts";

interface Operation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly openapi: string;
  readonly info: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: unknown };
}

describe("the OpenAPI document", () => {
  it("says of each row what the server does", async () => {
    await using server = await startServer({ endpoints: [...thingEndpoints(), openEndpoint] });
    const response = await server.call("/api/v1/openapi.json");
    expect(await (await server.call("/api/v1/admin/openapi.json")).json()).toEqual(await response.clone().json());
    expect(response.headers.get("Content-Type")).toBe("application/json");
    const { openapi, info, paths, components } = (await response.json()) as Document;
    expect([openapi, info]).toEqual(["3.1.0", { title: "Bridge admin server", version: "1" }]);
    expect(Object.keys(paths).toSorted()).toEqual([
      "/api/v1/admin/open",
      "/api/v1/admin/openapi.json",
      "/api/v1/admin/poke",
      "/api/v1/admin/things",
      "/api/v1/admin/things/{id}",
      "/api/v1/openapi.json",
    ]);
    const read = paths["/api/v1/admin/things/{id}"]?.["get"];
    expect(read?.operationId).toBe("getAdminThingsId");
    expect(read?.parameters).toEqual([
      { name: "id", in: "path", required: true, description: "Which thing.", schema: { type: "string" } },
      {
        name: "limit",
        in: "query",
        required: false,
        description: "How many.",
        schema: { type: "integer", minimum: 1, pattern: "^\\d+$", default: 7 },
      },
    ]);
    expect(Object.keys(read?.responses ?? {})).toEqual(["200", "400", "401", "403", "404", "429", "500", "503"]);
    expect(read?.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    const write = paths["/api/v1/admin/things"]?.["post"];
    expect(Object.keys(write?.responses ?? {})).toEqual([
      "200",
      "207",
      "400",
      "401",
      "403",
      "413",
      "429",
      "500",
      "503",
    ]);
    expect(write?.requestBody).toMatchObject({
      required: true,
      content: { "application/json": { schema: { required: ["names"], additionalProperties: false } } },
    });
    expect(write?.responses["503"]).toEqual({
      description: "The shop is closed. Or: The audit log cannot be written, or not in time; nothing was done.",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    });
    const open = paths["/api/v1/admin/open"]?.["get"];
    expect([open?.security, Object.keys(open?.responses ?? {})]).toEqual([[], ["200", "400", "500"]]);
    expect(open?.responses["200"]).toMatchObject({ content: { "text/plain": { schema: { type: "string" } } } });
    expect(components.schemas).toMatchObject({ Error: { required: ["error"] } });
  });

  it("is that of each server at the server's own path, when both stand under one prefix", async () => {
    const outer = new Hono();
    for (const server of ["monitor", "admin"] as const)
      outer.route(
        "/ops",
        serve<never>({
          server,
          endpoints: [],
          describe: { access: "open" },
          keyring: createKeyring([]),
          audit: { record: async () => true, hasRoomFor: async () => true },
          clock: systemClock,
          random: systemRandom(),
          logger: silentLogger,
        }),
      );
    const titleOf = async (path: string): Promise<unknown> =>
      ((await (await outer.request(`/ops/api/v1/${path}`)).json()) as Document).info;
    expect(await titleOf("admin/openapi.json")).toMatchObject({ title: "Bridge admin server" });
    expect(await titleOf("monitor/openapi.json")).toMatchObject({ title: "Bridge monitor server" });
    expect(await titleOf("openapi.json")).toMatchObject({ title: "Bridge monitor server" });
  });
});
