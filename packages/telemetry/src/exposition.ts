/** The Prometheus text format, version 0.0.4. @module */
import type { Family, HistogramSample, Labels } from "./family.ts";

/** Families as text, each with its help and type before its samples. */
export function exposition(families: Iterable<Family>): string {
  let text = "";
  for (const family of families) {
    const { name, type, help } = family;
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    if (family.type === "histogram") for (const sample of family.samples) text += histogram(name, sample);
    else for (const { labels, value } of family.samples) text += line(name, labels, value);
  }
  return text;
}

/** Buckets are told as how many observations are at or below each bound. */
function histogram(name: string, { labels, bounds, counts, sum }: HistogramSample): string {
  let text = "";
  let count = 0;
  for (const [bucket, more] of counts.entries()) {
    count += more;
    text += line(`${name}_bucket`, { ...labels, le: number(bounds[bucket] ?? Infinity) }, count);
  }
  return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, count);
}

function line(name: string, labels: Labels, value: number): string {
  return `${name}${labelSet(labels)} ${number(value)}\n`;
}

function labelSet(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function number(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
