import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ParsedFamily, parseExposition } from "@bridge/tooling/parse-exposition";
import parsePrometheusText from "parse-prometheus-text-format";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { MeasuredBridge, observed } from "./support/measured-bridge.ts";
import { labelsLeft, wantedBy } from "./support/promql.ts";

const at = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(at(`deploy/observability/${name}`), "utf8");

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string; readonly titleFormat: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const rules = parse(read("bridge.rules.yml")) as { groups: { name: string; rules: Alert[] }[] };
const alerts = rules.groups.flatMap((group) => group.rules);
const guide = readFileSync(at("docs/metrics.md"), "utf8").split("\n");
const dashboard = JSON.parse(read("grafana-dashboard.json")) as Dashboard;

/** What Prometheus adds to everything that it scrapes. */
const ADDED = ["job", "instance"];
/** What it knows without scraping. */
const ITS_OWN = [["up", [new Set(ADDED)]]] as const;
/** What the bridge of these tests has no samples of: its keys cannot change, nothing is on probation, and its trash has not been counted. */
const NOT_HERE = [
  "bridge_key_refresh_failures_total",
  "bridge_config_probation_end_timestamp_seconds",
  "bridge_dlq_trash_entries",
];
/** A bridge in code has them; the binary has no hooks. */
const OF_HOOKS = ["bridge_hook_events_lost_total", "bridge_hook_failures_total"];

let text: string;
let type: string | undefined;
let families: ReadonlyMap<string, ParsedFamily>;
let series: ReadonlyMap<string, readonly ReadonlySet<string>[]>;
/** What the labels of its metrics are: `metric label value`. */
let told: ReadonlySet<string>;

beforeAll(async () => {
  await using bridge = await MeasuredBridge.start();
  ({ text, type } = await bridge.scrape());
  families = parseExposition(text);
  const samples = [...families.values()].flatMap((family) => family.samples);
  const labelsOf = (labels: object) => new Set([...Object.keys(labels), ...ADDED]);
  const byName = Map.groupBy(samples, ({ name }) => name);
  series = new Map<string, readonly ReadonlySet<string>[]>([
    ...ITS_OWN,
    ...NOT_HERE.map((name) => [name, [new Set(ADDED)]] as const),
    ...[...byName].map(([name, all]) => [name, all.map(({ labels }) => labelsOf(labels))] as const),
  ]);
  told = new Set(
    samples.flatMap(({ name, labels }) => Object.entries(labels).map(([label, value]) => `${name} ${label} ${value}`)),
  );
}, 60_000);

/** Whether the guide has this word in the row of a metric: what a bridge tells of only when it happens. */
function inGuide(metric: string, value: string): boolean {
  const family = metric.replace(/_(?:bucket|sum|count)$/, "");
  return guide.some((line) => line.startsWith("|") && line.includes(`\`${family}\``) && line.includes(`\`${value}\``));
}

/** What the bridge does not have of what an expression asks for. */
function missing(expression: string): readonly string[] {
  return wantedBy(expression).flatMap(({ metric, labels, values }) => {
    const known = series.get(metric);
    if (known === undefined) return [`there is no ${metric}`];
    const lacking = [...labels].filter((label) => !known.some((one) => one.has(label)));
    const never = values.filter(
      ([label, value]) => !told.has(`${metric} ${label} ${value}`) && !inGuide(metric, value),
    );
    return [
      ...lacking.map((label) => `${metric} has no label ${label}`),
      ...never.map(([label, value]) => `${label} of ${metric} is never ${value}`),
    ];
  });
}

/** The labels that a text names and the result of an expression cannot have. */
function unknownLabels(template: string, pattern: RegExp, expression: string): readonly string[] {
  const named = [...template.matchAll(pattern)].map(([, label = ""]) => label);
  const of = wantedBy(expression).flatMap(({ metric }) => [...(series.get(metric) ?? []), new Set(ADDED)]);
  const left = labelsLeft(expression) ?? new Set(of.flatMap((labels) => [...labels]));
  return named.filter((label) => !left.has(label));
}

/** As Grafana fills it in before it asks. */
function filledIn(expression: string): string {
  return expression.replaceAll(/\$__(?:rate_)?interval/g, "1m").replaceAll(/\$[a-z]+/g, ".*");
}

describe("the metrics of a running bridge", () => {
  test("are text of the format's version, which two readers understand alike", () => {
    expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
    const understood = parsePrometheusText(text);
    expect(understood.map(({ name }) => name)).toEqual([...families.keys()]);
    for (const { name, type: kind, help, metrics } of understood) {
      const family = families.get(name);
      expect({ name, kind: kind.toLowerCase(), help }).toEqual({ name, kind: family?.type, help: family?.help });
      if (family?.type === "histogram") continue;
      const seen = metrics.map(({ value, labels = {} }) => ({ name, labels, value: Number(value) }));
      expect(seen).toEqual(family?.samples);
    }
  });

  test.runIf(spawnSync("promtool", ["--version"]).error === undefined)("are what promtool takes for metrics", () => {
    expect(spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  test("have observations in every histogram, and samples of everything but what is not here", () => {
    const histograms = [...families].filter(([, family]) => family.type === "histogram");
    expect(histograms).toHaveLength(4);
    for (const [name, family] of histograms)
      expect({ name, observed: observed(family) > 0 }).toEqual({ name, observed: true });
    const empty = [...families].filter(([, { samples }]) => samples.length === 0).map(([name]) => name);
    expect([...OF_HOOKS, ...NOT_HERE]).toEqual(expect.arrayContaining(empty));
  });
});

test("every metric is in the guide", () => {
  const all = guide.join("\n");
  expect([...families.keys()].filter((name) => !all.includes(`\`${name}\``))).toEqual([]);
});

describe("the alerts", () => {
  test.each(alerts)("$alert asks for what there is", ({ expr, annotations }) => {
    expect(missing(expr)).toEqual([]);
    expect(unknownLabels(annotations.summary, /\$labels\.(\w+)/g, expr)).toEqual([]);
  });

  test.each(alerts)("$alert says for how long, how bad it is, and what to do", (alert) => {
    expect(alert.for).toMatch(/^\d+[mh]$/);
    expect(["critical", "warning", "info"]).toContain(alert.labels["severity"]);
    expect(alert.annotations.summary).toMatch(/\{\{ \$labels\.\w+ \}\}/);
    const { runbook_url: runbook } = alert.annotations;
    expect(runbook).toMatch(/^docs\/runbooks\/[a-z-]+\.md$/);
    expect(existsSync(at(runbook))).toBe(true);
    expect(readFileSync(at(runbook), "utf8")).toContain(alert.alert);
  });

  test.each([
    ['bridge_ready{level="ful"} == 0', ["level of bridge_ready is never ful"]],
    ['bridge_legs_total{disposition=~"dropped|droped"}', ["disposition of bridge_legs_total is never droped"]],
    ['bridge_ready{tier="full"}', ["bridge_ready has no label tier", "tier of bridge_ready is never full"]],
    ["bridge_redy", ["there is no bridge_redy"]],
  ])("would be found asking for what there is not: %s", (expression, found) => {
    expect(missing(expression)).toEqual(found);
  });

  test.each(alerts)("$alert is written as Prometheus reads it", (alert) => {
    expect(Object.keys(alert)).toEqual(["alert", "expr", "for", "labels", "annotations"]);
    expect(Object.keys(alert.annotations)).toEqual(["summary", "runbook_url"]);
    const plain = alert.annotations.summary.replaceAll(
      /\{\{ \$(?:labels\.\w+|value(?: \| humanize(?:Duration|Percentage)?)?) \}\}/g,
      "",
    );
    expect(plain).not.toMatch(/[{}$]/);
  });

  test("are in groups that have a name and rules, and nothing else", () => {
    expect(Object.keys(rules)).toEqual(["groups"]);
    for (const group of rules.groups) expect(Object.keys(group)).toEqual(["name", "rules"]);
    expect(new Set(rules.groups.map(({ name }) => name)).size).toBe(rules.groups.length);
  });

  test("have names of their own", () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });
});

describe("the dashboard", () => {
  const panels = dashboard.panels.filter((panel) => panel.type !== "row");

  test.each(panels)("$title asks for what there is", ({ targets = [] }) => {
    expect(targets).not.toEqual([]);
    for (const { expr, legendFormat } of targets) {
      expect(missing(filledIn(expr))).toEqual([]);
      expect(unknownLabels(legendFormat, /\{\{(\w+)\}\}/g, filledIn(expr))).toEqual([]);
    }
  });

  test("its annotations and variables ask for what there is", () => {
    for (const { expr } of dashboard.annotations.list) expect(missing(filledIn(expr))).toEqual([]);
    const queries = dashboard.templating.list.flatMap(({ query }) =>
      typeof query === "object" && query !== null && "query" in query ? [String(query.query)] : [],
    );
    expect(queries).toHaveLength(3);
    for (const query of queries) {
      const [, selector = "", label = ""] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
      expect(missing(`sum by (${label}) (${filledIn(selector)})`)).toEqual([]);
    }
  });

  test("shows bridges alone, also when all are chosen: other programs too have a process", () => {
    const [job] = dashboard.templating.list.filter(({ name }) => name === "job");
    expect(job).toMatchObject({ query: { query: "label_values(bridge_info, job)" } });
    expect(job).not.toHaveProperty("allValue");
  });

  test("shows everything that the bridge tells", () => {
    const shown = [...panels.flatMap(({ targets = [] }) => targets), ...dashboard.annotations.list, ...alerts];
    const asked = new Set(shown.flatMap(({ expr }) => wantedBy(filledIn(expr)).map(({ metric }) => metric)));
    const part = (name: string) => ["", "_bucket", "_sum", "_count"].some((ending) => asked.has(name + ending));
    expect([...families.keys()].filter((name) => name.startsWith("bridge_") && !part(name))).toEqual(OF_HOOKS);
  });
});

test("the scrape configuration asks where the metrics are, with a key from a file", () => {
  const { rule_files: files, scrape_configs: scrapes } = parse(read("prometheus.yml")) as {
    rule_files: string[];
    scrape_configs: Record<string, unknown>[];
  };
  expect(files).toEqual(["bridge.rules.yml"]);
  expect(scrapes).toHaveLength(1);
  expect(scrapes[0]).toMatchObject({
    job_name: "bridge",
    metrics_path: "/api/v1/monitor/metrics",
    authorization: { credentials_file: "bridge-monitor-key" },
  });
  const jobs = alerts.flatMap(({ expr }) => [...expr.matchAll(/\bjob=~"([^"]*)"/g)].map(([, pattern = ""]) => pattern));
  expect(jobs).toHaveLength(1);
  // Prometheus anchors what it matches.
  const named = new RegExp(`^(?:${jobs[0]})$`);
  const known = [String(scrapes[0]?.["job_name"]), "bridge-plant-7", "bridges", "bridge-", "node"];
  expect(known.filter((name) => named.test(name))).toEqual(["bridge", "bridge-plant-7"]);
});
