/** The Prometheus text format, version 0.0.4. @module */
import type { Family, HistogramSample, Labels } from "./family.ts";

/** Families as text, each with its help and type before its samples. */
export function exposition(families: Iterable<Family>): string {
  return [...expositionParts(families)].join("");
}

/** The same a sample at a time, read when it is asked for: of thousands of routes it is megabytes, and takes long. */
export function* expositionParts(families: Iterable<Family>): Generator<string> {
  for (const family of families) {
    const { name, type, help } = family;
    yield `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    if (family.type === "histogram") for (const sample of family.samples) yield histogram(name, sample);
    else for (const { labels, value } of family.samples) yield `${name}${labelSet(labels)} ${number(value)}\n`;
  }
}

/**
 * Buckets are told as how many observations are at or below each bound. What was never observed is left out: of a thousand
 * idle routes it would be nearly all of a scrape. Counters are there from the start, for the first failure is to be seen.
 */
function histogram(name: string, { labels, bounds, counts, sum }: HistogramSample): string {
  const total = counts.reduce((all, more) => all + more, 0);
  if (total === 0) return "";
  const set = labelSet(labels);
  const before = set === "" ? "{" : `${set.slice(0, -1)},`;
  let text = "";
  let count = 0;
  for (const [bucket, more] of counts.entries()) {
    count += more;
    text += `${name}_bucket${before}le="${number(bounds[bucket] ?? Infinity)}"} ${count}\n`;
  }
  return `${text}${name}_sum${set} ${number(sum)}\n${name}_count${set} ${total}\n`;
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
