import type { SessionRole } from "@bridge/ports";
import type { Case } from "../case.ts";
import type { Check } from "./check.ts";
import { CONTENT_CHECKS, type ContentCheck } from "./content-checks.ts";
import { accept } from "./consumer.ts";
import { envelopeOf } from "./messages.ts";
import { SESSION_CHECKS } from "./session-checks.ts";
import { EXCUSED_SOURCE_CHECKS, SOURCE_CHECKS } from "./source-checks.ts";
import { Stage } from "./stage.ts";
import { COMPETING_CHECKS, EXCUSED_TAKEOVER_CHECKS, TAKEOVER_CHECKS } from "./takeover-checks.ts";
import { TARGET_CHECKS } from "./target-checks.ts";
import type { TransportSubject } from "./transport-subject.ts";

/** The names of all cases; a transport without one of the parts has no cases of that part. */
export type TransportCaseName =
  | `source: ${keyof typeof SOURCE_CHECKS | keyof typeof CONTENT_CHECKS}`
  | `source: ${keyof typeof TAKEOVER_CHECKS | keyof typeof COMPETING_CHECKS}`
  | `target: ${keyof typeof TARGET_CHECKS | keyof typeof CONTENT_CHECKS}`
  | `${SessionRole} session: ${keyof typeof SESSION_CHECKS}`;

/** Everything that is demanded of a transport with the parts of the subject's plugin. */
export function transportCases(subject: TransportSubject): readonly Case<TransportCaseName>[] {
  const { receiver, sender, session } = subject.plugin;
  return [
    ...(receiver === undefined ? [] : sourceCases(subject)),
    ...(sender === undefined ? [] : targetCases(subject)),
    ...(session === undefined || receiver === undefined ? [] : sessionCases(subject, "source")),
    ...(session === undefined || sender === undefined ? [] : sessionCases(subject, "target")),
  ];
}

function sourceCases(subject: TransportSubject): readonly Case<TransportCaseName>[] {
  const { competing = false } = subject.plugin.receiver ?? {};
  return [
    ...entries(CONTENT_CHECKS).map(([name, check]) => onStage(subject, `source: ${name}`, receiveContent(check))),
    ...entries(SOURCE_CHECKS).map(([name, check]) =>
      onStage(subject, `source: ${name}`, check, EXCUSED_SOURCE_CHECKS[name]),
    ),
    ...takeoverCases(subject, TAKEOVER_CHECKS),
    ...(competing === false ? [] : takeoverCases(subject, COMPETING_CHECKS)),
  ];
}

function takeoverCases<Name extends keyof typeof EXCUSED_TAKEOVER_CHECKS>(
  subject: TransportSubject,
  checks: Readonly<Record<Name, Check>>,
): readonly Case<TransportCaseName>[] {
  return entries(checks).map(([name, check]) =>
    onStage(subject, `source: ${name}`, check, EXCUSED_TAKEOVER_CHECKS[name]),
  );
}

function targetCases(subject: TransportSubject): readonly Case<TransportCaseName>[] {
  return [
    ...entries(CONTENT_CHECKS).map(([name, check]) => onStage(subject, `target: ${name}`, sendContent(check))),
    ...entries(TARGET_CHECKS).map(([name, check]) => onStage(subject, `target: ${name}`, check)),
  ];
}

function sessionCases(subject: TransportSubject, role: SessionRole): readonly Case<TransportCaseName>[] {
  return entries(SESSION_CHECKS).map(([name, check]) =>
    onStage(subject, `${role} session: ${name}`, (stage, signal) => check(stage, role, signal)),
  );
}

function onStage<Name extends TransportCaseName>(
  subject: TransportSubject,
  name: Name,
  check: Check,
  excused?: Check,
): Case<Name> {
  const run = async (chosen: Check, signal: AbortSignal): Promise<void> => {
    await using stage = new Stage(subject.plugin, await subject.open(signal), signal);
    await chosen(stage, signal);
  };
  return {
    name,
    run: (signal) => run(check, signal),
    ...(excused !== undefined && { runExcused: (signal: AbortSignal) => run(excused, signal) }),
  };
}

function receiveContent({ fields, verify }: ContentCheck): Check {
  return async (stage, signal) => {
    const consumer = await stage.consumer();
    const message = stage.message("source", fields(stage.largestPayload));
    await stage.publish(message);
    const delivery = await consumer.next(signal);
    verify(delivery.message, message);
    await accept(delivery, signal);
  };
}

function sendContent({ fields, verify }: ContentCheck): Check {
  return async (stage, signal) => {
    const producer = await stage.producer();
    const message = stage.message("target", fields(stage.largestPayload));
    await producer.deliver(envelopeOf(message), signal);
    const [arrived] = await stage.collect(1);
    verify(arrived ?? message, message);
  };
}

function entries<Key extends string, Value>(table: Readonly<Record<Key, Value>>): [Key, Value][] {
  return Object.entries(table) as [Key, Value][];
}
