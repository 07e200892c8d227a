import { describe, expect, test } from "vitest";
import { type BridgeDocument, referencedDocument } from "../src/index.ts";
import { goodDocument, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

function referenced(document: unknown, hidden: readonly (readonly (string | number)[])[] = []) {
  return referencedDocument(document as BridgeDocument, registry, hidden);
}

describe("a document without its secrets", () => {
  test("has references that are named after the part and the key", () => {
    let document = withValue("sessions.0.options.password", "of-broker");
    document = withValue("senders.0.options.bearer", "of-out", document);
    document = withValue("http", { admin_api_key: "admin-key-0123456789", monitor_api_key: "" }, document);
    const { document: shown, secrets } = referenced(document);
    expect(shown.sessions?.[0]?.options?.["password"]).toBe("${env:BROKER_PASSWORD}");
    expect(shown.senders?.[0]?.options?.["bearer"]).toBe("${env:OUT_BEARER}");
    expect(shown.http).toEqual({ admin_api_key: "${env:HTTP_ADMIN_API_KEY}", monitor_api_key: "" });
    expect(Object.fromEntries(secrets)).toEqual({
      BROKER_PASSWORD: "of-broker",
      OUT_BEARER: "of-out",
      HTTP_ADMIN_API_KEY: "admin-key-0123456789",
    });
  });

  test("hides what else it is told to", () => {
    const document = withValue("sessions.0.options.username", "alice");
    const { document: shown, secrets } = referenced(document, [["sessions", 0, "options", "username"]]);
    expect(shown.sessions?.[0]?.options?.["username"]).toBe("${env:BROKER_USERNAME}");
    expect(secrets.get("BROKER_USERNAME")).toBe("alice");
  });

  test("names two secrets apart whose names would be one, unless they are the same", () => {
    const secret = (password: string) => ({ broker_urls: ["mqtt://127.0.0.1"], password });
    const sessions = [
      { id: "a.b", transport: "mqtt", options: secret("one") },
      { id: "a-b", transport: "mqtt", options: secret("two") },
      { id: "a_b", transport: "mqtt", options: secret("one") },
    ];
    const { document: shown } = referenced({ ...goodDocument(), sessions });
    expect(shown.sessions?.map(({ options }) => options?.["password"])).toEqual([
      "${env:A_B_PASSWORD}",
      "${env:A_B_PASSWORD_2}",
      "${env:A_B_PASSWORD}",
    ]);
  });

  test("escapes what would be read as a reference", () => {
    const document = withValue("bindings.0.address", "/a/$${env:X}/${file:y}/${vault:z}/{device}");
    expect(referenced(document).document.bindings?.[0]?.address).toBe("/a/$$${env:X}/$${file:y}/${vault:z}/{device}");
  });

  test("is otherwise the same, without keys that hold nothing", () => {
    const document = goodDocument();
    expect(referenced({ ...document, http: undefined }).document).toEqual(document);
  });
});
