import { describe, expect, it } from "vitest";
import { KEY, startServer } from "./server.ts";

const ORIGIN = "https://ops.example.org";

describe("spec 5.8: CORS", () => {
  it.each(["*", "null", "https://ops.example.org/", "ops.example.org", "https://a.example, https://b.example", ""])(
    "the origin %j is refused",
    async (origin) => {
      await expect(startServer({ corsOrigins: [origin] })).rejects.toThrow(/CORS origin/);
    },
  );

  it("a listed origin may read answers, errors included; another may not", async () => {
    await using server = await startServer({ corsOrigins: [ORIGIN, "http://localhost:3000"] });
    const from = async (Origin: string, key: string): Promise<Response> =>
      server.call("/api/v1/admin/things/1", { headers: { "X-API-Key": key, Origin } });
    for (const key of [KEY, "wrong"]) {
      const listed = await from(ORIGIN, key);
      expect(listed.headers.get("Access-Control-Allow-Origin")).toBe(ORIGIN);
      expect(listed.headers.get("Access-Control-Expose-Headers")).toContain("X-Correlation-ID");
      expect(listed.headers.get("Access-Control-Allow-Credentials")).toBeNull();
      expect(listed.headers.get("Vary")).toBe("Origin");
    }
    const other = await from("https://evil.example", KEY);
    expect(other.headers.get("Access-Control-Allow-Origin")).toBeNull();
    expect(other.headers.get("Vary")).toBe("Origin");
  });

  it("a preflight is answered without a key, and is neither a failed login nor a call", async () => {
    await using server = await startServer({ corsOrigins: [ORIGIN] });
    const preflight = async (Origin: string): Promise<Response> =>
      fetch(`${server.url}/api/v1/admin/things`, {
        method: "OPTIONS",
        headers: { Origin, "Access-Control-Request-Method": "POST" },
      });
    const listed = await preflight(ORIGIN);
    expect([listed.status, await listed.text()]).toEqual([204, ""]);
    expect(listed.headers.get("Access-Control-Allow-Origin")).toBe(ORIGIN);
    expect(listed.headers.get("Access-Control-Allow-Methods")).toBe("GET, POST");
    expect(listed.headers.get("Access-Control-Allow-Headers")).toContain("X-API-Key");
    expect(listed.headers.get("X-Frame-Options")).toBe("DENY");
    const other = await preflight("https://evil.example");
    expect([other.status, other.headers.get("Access-Control-Allow-Origin")]).toEqual([204, null]);
    expect(server.entries).toEqual([]);
  });

  it("without origins nothing is said of CORS, and OPTIONS is a method like any other", async () => {
    await using server = await startServer();
    const headers = { Origin: ORIGIN, "Access-Control-Request-Method": "POST" };
    const keyless = await fetch(`${server.url}/api/v1/admin/things`, { method: "OPTIONS", headers });
    expect([keyless.status, keyless.headers.get("Vary")]).toEqual([401, null]);
    const keyed = await server.call("/api/v1/admin/things", {
      method: "OPTIONS",
      headers: { ...headers, "X-API-Key": KEY },
    });
    expect([keyed.status, keyed.headers.get("Allow")]).toEqual([405, "POST"]);
  });
});
