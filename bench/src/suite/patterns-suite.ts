import { compileCondition, Subject } from "@bridge/ports/conditions";
import { CONTENDERS, type Contender, type Settings } from "./contender.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

/** How long a pattern is matched in one run, at least. */
const RUN_MS = 200;
const KIB = 1_024;

interface Row {
  readonly name: string;
  readonly pattern: string;
  readonly text: string;
  /** A shorter text for the platform's expressions, which would not come to an end with the other one. */
  readonly shorter?: string;
}

const ROWS: readonly Row[] = [
  row("a topic that matches", String.raw`^plant/\d+/(alarm|event)$`, "plant/1234/alarm"),
  row("a topic that does not", String.raw`^plant/\d+/(alarm|event)$`, "plant/1234/state"),
  row("one of 40 names", `^(${Array.from({ length: 40 }, (_, i) => `device-${i * 7}`).join("|")})$`, "device-266"),
  row("in any letter case", "(?i)error|fatal|panic", `${"all is well ".repeat(20)}Fatal`),
  row("a word in 64 KiB", "[0-9]+ bar", `${"foo bar ".repeat(8 * KIB)}1 bar`),
  row(String.raw`\s+$ of 8 KiB`, String.raw`\s+$`, `${" ".repeat(8 * KIB)}x`),
  row("an address in 8 KiB", String.raw`[a-z]+@[a-z]+\.com`, `@.com${"a".repeat(8 * KIB)}`),
  {
    ...row("a topic of 1 MiB", String.raw`^in/(\w+\s?)+$`, `in/${"a".repeat(1_024 * KIB)}!`),
    shorter: `in/${"a".repeat(22)}!`,
  },
  row("many repetitions, 4 KiB", "a[ab]{400}c", `c${"aab".repeat(1_400)}`),
];

function row(name: string, pattern: string, text: string): Row {
  return { name, pattern, text };
}

/** A regular expression of a condition, and the platform's own that would stand in its place. */
export async function* patternsSuite({ rounds }: Settings): AsyncGenerator<Measurement> {
  for (const each of ROWS) {
    yield {
      suite: "patterns",
      name: each.shorter === undefined ? each.name : `${each.name}; for the script ${each.shorter.length} characters`,
      runs: await alternate(rounds, CONTENDERS, async (contender) => run(contender, each)),
    };
  }
}

function run(contender: Contender, { pattern, text, shorter }: Row): Run {
  const match = contender === "script" ? platform(pattern, shorter ?? text) : condition(pattern, text);
  match();
  let count = 0;
  const begin = performance.now();
  let elapsedMs = 0;
  do {
    match();
    count++;
    elapsedMs = performance.now() - begin;
  } while (elapsedMs < RUN_MS);
  return { perSecond: (count / elapsedMs) * 1_000, cpuMicros: (elapsedMs / count) * 1_000 };
}

function platform(pattern: string, text: string): () => boolean {
  const [, flags = "", written = pattern] = /^\(\?(i)\)(.*)$/.exec(pattern) ?? [];
  const compiled = new RegExp(written, `u${flags}`);
  return () => compiled.test(text);
}

function condition(pattern: string, text: string): () => boolean {
  const holds = compileCondition({ field: "subject", op: "regex", value: pattern });
  const subject = new Subject({
    id: "1",
    sourceId: "in",
    subject: text,
    contentType: "",
    headers: {},
    payload: new Uint8Array(),
    correlationId: "1",
    receivedAt: 0,
  });
  return () => holds(subject);
}
