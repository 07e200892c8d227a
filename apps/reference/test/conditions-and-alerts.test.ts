import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CONDITION_RULES } from "@bridge/core";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const at = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

const { groups } = parse(readFileSync(at("deploy/observability/bridge.rules.yml"), "utf8")) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = new Map(groups.flatMap(({ rules }) => rules).map((rule) => [rule.alert, rule] as const));
const MINUTES: Readonly<Record<string, number>> = { s: 1 / 60, m: 1, h: 60 };

describe("operators 6.2: a condition is its alert, looked at in the process", () => {
  test.each(CONDITION_RULES)("$code is $alert", ({ alert, severity, forMs, threshold, runbook }) => {
    const shipped = alerts.get(alert);
    expect(shipped).toBeDefined();
    const [, digits = "", unit = ""] = /^(\d+)([smh])$/.exec(shipped?.for ?? "") ?? [];
    expect(forMs).toBe(Number(digits) * (MINUTES[unit] ?? 0) * 60_000);
    expect(severity).toBe(shipped?.labels.severity);
    expect(`docs/runbooks/${runbook}.md`).toBe(shipped?.annotations.runbook_url);
    expect(existsSync(at(`docs/runbooks/${runbook}.md`))).toBe(true);
    const compared = /(?:[<>]=?|[!=]=) ?([\d.]+(?: \* \d+)?)(?: unless| and|$)/m.exec(shipped?.expr.trim() ?? "")?.[1];
    const product = compared?.split(" * ").reduce((value, factor) => value * Number(factor), 1);
    if (threshold !== undefined) expect(product).toBe(threshold);
  });

  test("no code is there twice", () => {
    expect(new Set(CONDITION_RULES.map(({ code }) => code)).size).toBe(CONDITION_RULES.length);
  });
});
