import type { Fault, Moment } from "./plan/plan.ts";
import type { SeedRun } from "./run/run-seed.ts";

/** How many of the last lines the story includes. */
const LAST_LINES = 60;

/** Describes what a seed violated. `again`: the command that reproduces it. */
export function story(
  { plan, violations, trace, instances, virtualMs }: SeedRun,
  again = `pnpm simulate --seeds 1 --from ${plan.seed}`,
): string {
  const { seed, messages, faults, bindings, broker, callers, target } = plan;
  const named = new Set(violations.flatMap((words) => /^message (\d+) /.exec(words)?.[1] ?? []));
  const told = trace.filter((line) => [...named].some((number) => new RegExp(`\\b${number}\\b`).test(line)));
  return [
    `seed ${seed} VIOLATED`,
    ...violations.map((words) => `  ! ${words}`),
    `  ${messages.length} messages to ${bindings.join(", ")} within ${seconds(plan.calmAt)}, ${instances} instances, ${seconds(virtualMs)} in all`,
    `  policy: ${JSON.stringify(plan.document.routes)}`,
    callers === undefined ? `  broker: ${JSON.stringify(broker)}` : `  callers: ${JSON.stringify(callers)}`,
    `  target: ${JSON.stringify(target)}`,
    ...(plan.outbox === undefined ? [] : [`  outbox: ${JSON.stringify(plan.outbox)}`]),
    ...faults.map((fault) => `  ${whenOf(fault)}: ${wordsOf(fault)}`),
    ...(told.length > 0 ? ["  what happened to them:", ...indented(told.slice(0, LAST_LINES))] : []),
    "  what happened last:",
    ...indented(trace.slice(-LAST_LINES)),
    `  again: ${again}`,
    "",
  ].join("\n");
}

const WORDS = {
  refuses: "refuses",
  silent: "is silent",
  loses: "loses its answers",
  torn: "does a part and fails",
  full: "is full",
  busy: "takes no writes",
  slow: "answers late",
} as const;

const MOMENTS: Readonly<Record<Moment, string>> = {
  settled: "the source hears what is settled",
  accepted: "a target takes a message",
  kept: "the DLQ keeps an entry",
  redriven: "the DLQ deletes an entry that was delivered",
  persisted: "the outbox enters a record",
  ended: "the outbox enters the end of a record",
  tried: "the document is asked for the end of a trial",
};

function whenOf({ at, upon }: Fault): string {
  if (upon === undefined) return seconds(at);
  return `after ${seconds(at)}, ${seconds(upon.afterMs)} after ${MOMENTS[upon.moment]}`;
}

function wordsOf(fault: Fault): string {
  const forMs = fault.forMs > 0 ? ` for ${seconds(fault.forMs)}` : "";
  switch (fault.kind) {
    case "kill":
      return `the instance is killed, and another begins after ${seconds(fault.forMs)}`;
    case "cut":
      return `the broker drops the connection, which is noticed after ${seconds(fault.noticedAfterMs)}`;
    case "target-cut":
      return `the target drops the connection, which is noticed after ${seconds(fault.noticedAfterMs)}`;
    case "broker-down":
      return `the broker is down${forMs}`;
    case "target-down":
      return `the target ${WORDS[fault.answers]}${forMs}`;
    case "dlq-down":
      return `the DLQ ${WORDS[fault.answers]}${forMs}`;
    case "outbox-down":
      return `the outbox ${WORDS[fault.answers]}${forMs}`;
    case "outbox-crash":
      return "the outbox crashes, and what was not durable is gone";
    case "leases-down":
      return `the store of leases ${WORDS[fault.answers]}${forMs}`;
    case "freeze":
      return `the ${fault.machine ? "instance's machine" : "instance"} stands still${forMs}`;
    case "link":
      return `nothing gets ${fault.ways.map((way) => (way === ">" ? "to" : "from")).join(" or ")} the ${fault.edge}${forMs}`;
    case "stop":
      return `an operator stops the bridge${forMs}`;
    case "redrive":
      return `${fault.callers} operators redrive the ${fault.entries} oldest dead letters`;
    case "redrive-one":
      return `${fault.callers} operators redrive dead letter ${fault.nth} alone${fault.edit === undefined ? "" : ` (edit: ${fault.edit})`}`;
    case "delete-one":
      return `an operator deletes dead letter ${fault.nth}`;
    case "quarantine":
      return `an operator keeps one in ${fault.oneIn} dead letters back from redrives${forMs}`;
    case "spoil-one":
      return `dead letter ${fault.nth} is spoiled`;
    case "slip":
      return `an operator ${fault.slip} (dead letter ${fault.nth})`;
    case "discard":
      return `an operator deletes the ${fault.entries} oldest dead letters`;
    case "move":
      return `${fault.callers} operators move the ${fault.records} oldest records of the outbox to the DLQ`;
    case "job":
      return `${fault.callers} operators plan a job (${JSON.stringify(fault.job)})`;
    case "job-call":
      return `${fault.callers} operators ask for ${fault.ask.call.kind} of the job that was planned ${fault.ask.nth} before the last`;
    case "reload":
      return `an operator changes the configuration${forMs} (${JSON.stringify(fault.change)})`;
    case "hurry":
      return `somebody asks ${fault.asks} times for the configuration that is wanted, every ${seconds(fault.everyMs)}, and waits ${seconds(fault.patienceMs)} for it`;
    case "commit":
      return `an operator commits a change of the document, and changes it back after ${seconds(fault.forMs)} (${JSON.stringify(fault.commit)})`;
    case "by-hand":
      return fault.older === undefined
        ? `somebody writes the document anew (${JSON.stringify(fault.change)})`
        : `somebody puts the document back by ${fault.older}`;
    case "document-down":
      return `the store of the document ${WORDS[fault.answers]}${forMs}`;
    case "document-away":
      return `the document is ${fault.how}${forMs}`;
    case "restart":
      return `the instance is asked to end, and another begins after ${seconds(fault.forMs)}`;
    case "second-process":
      return `a second process is started on the same outbox, and asked to end after ${seconds(fault.forMs)}`;
    case "pause":
      return `an operator pauses the route${forMs}`;
    case "tap":
      return `somebody looks at what the route settles${forMs} (${JSON.stringify(fault.tap)})`;
    case "where":
      return `somebody asks every ${seconds(fault.everyMs)} where messages are${forMs}`;
    case "jump":
      return `the time of day jumps by ${seconds(fault.ms)}`;
  }
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line.trimEnd()}`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}
