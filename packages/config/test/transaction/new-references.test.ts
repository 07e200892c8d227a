import { atOnce } from "@bridge/ports/internal";
import { describe, expect, test } from "vitest";
import { newReferences } from "../../src/transaction/new-references.ts";

const DOCUMENT = {
  config: { references: { allow: ["env:SITE_*", "file:/run/secrets/*"] } },
  http: { admin_api_key: "${env:ADMIN_KEY}" },
  bindings: [
    { id: "a", address: "${env:PLANT}/x" },
    { id: "b", address: "b" },
  ],
};

const withAddress = (address: string): object => ({
  ...DOCUMENT,
  bindings: [DOCUMENT.bindings[0], { id: "b", address }],
});

describe("finding 4.6: references that a change brings", () => {
  test.each([
    "plain",
    "$${file:/etc/passwd}",
    "${env:PLANT}",
    "${env:SITE_7}/${env:PLANT}",
    "${file:/run/secrets/site}",
  ])("%s may come", (address) => {
    expect(atOnce(newReferences(DOCUMENT, withAddress(address)))).toEqual([]);
  });

  test.each([
    "${file:/etc/passwd}",
    "${env:HOME}",
    "x${env:PLANT}${file:audit.key}y",
    // A secret stays where nothing shows it.
    "${env:ADMIN_KEY}",
    "${file:/run/secrets/deeper/site}",
    "${file:/run/secrets/..}",
    "${env:SITE_/../X}",
    "${secret:other-kind}",
    "${file:/etc/passwd",
  ])("%s may not", (address) => {
    expect(atOnce(newReferences(DOCUMENT, withAddress(address)))).toEqual([
      { path: ["bindings", 1, "address"], message: expect.stringContaining("config.references.allow") as string },
    ]);
  });

  test("nor anywhere else", () => {
    const telemetry = { otlp: { headers: { x: "${file:/etc/passwd}" }, endpoint: "http://${env:HOME}" } };
    const found = atOnce(
      newReferences(DOCUMENT, { ...DOCUMENT, telemetry, routes: [{ id: "r", bindings: ["${env:HOME}"] }] }),
    );
    expect(found.map(({ path }) => path.join("."))).toEqual([
      "telemetry.otlp.headers.x",
      "telemetry.otlp.endpoint",
      "routes.0.bindings.0",
    ]);
  });

  test("a secret may become another secret of the process, and none that is sent", () => {
    const http = { ...DOCUMENT.http, monitor_api_key: "${env:ADMIN_KEY}" };
    expect(atOnce(newReferences(DOCUMENT, { ...DOCUMENT, http }))).toEqual([]);
    const telemetry = { otlp: { headers: { x: "${env:ADMIN_KEY}" } } };
    expect(atOnce(newReferences(DOCUMENT, { ...DOCUMENT, telemetry }))).toHaveLength(1);
  });

  test("a reference stays where it is, when others come before its part", () => {
    const [a, b] = DOCUMENT.bindings;
    expect(atOnce(newReferences(DOCUMENT, { ...DOCUMENT, bindings: [{ id: "new", address: "n" }, b, a] }))).toEqual([]);
  });
});
