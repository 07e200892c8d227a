import type { ErrorCode } from "@bridge/ports";
import type { Dice } from "../dice.ts";
import type { PlannedMessage } from "./plan.ts";

const POISON: readonly [ErrorCode, ...ErrorCode[]] = [
  "INVALID_PAYLOAD",
  "NOT_AUTHORIZED",
  "FORBIDDEN",
  "PAYLOAD_TOO_LARGE",
  "SCHEMA_VIOLATION",
  "DESTINATION_NOT_FOUND",
];
const FORMS = ["text", "buffer", "shared", "resizable"] as const;

/** What sources publish, in the order of time, some of it with a key or such that a target always refuses it. */
export function drawMessages(dice: Dice, spanMs: number, count: readonly [number, number]): readonly PlannedMessage[] {
  const keys = dice.chance(0.4) ? dice.scaled(1, 20) : 0;
  const poisoned = dice.chance(0.5) ? dice.next() * 0.2 : 0;
  return Array.from({ length: dice.scaled(...count) }, () => Math.floor(dice.next() * spanMs))
    .toSorted((a, b) => a - b)
    .map((at, number) => ({
      number,
      at,
      ...(dice.chance(poisoned) && { poison: dice.pick(POISON) }),
      ...(keys > 0 && dice.chance(0.7) && { key: dice.whole(1, keys) }),
    }));
}

/** Some come from operators, without a key. */
export function withInjects(
  dice: Dice,
  messages: readonly PlannedMessage[],
  instances: number,
): readonly PlannedMessage[] {
  const share = dice.chance(0.5) ? dice.next() * 0.2 : 0;
  return messages.map(({ key, ...message }) => {
    if (!dice.chance(share)) return { ...message, ...(key !== undefined && { key }) };
    const patience = dice.chance(0.5) ? { patienceMs: dice.scaled(10, 60_000) } : {};
    return { ...message, inject: { instance: dice.whole(0, instances - 1), ...patience } };
  });
}

/** Where there are jobs, many messages are refused. */
export function failing(dice: Dice, messages: readonly PlannedMessage[]): readonly PlannedMessage[] {
  const share = 0.05 + dice.next() * 0.6;
  return messages.map((message) => (dice.chance(share) ? { ...message, poison: dice.pick(POISON) } : message));
}

/** What a target refuses it may take later on, when somebody has mended it. */
export function healing(dice: Dice, messages: readonly PlannedMessage[], spanMs: number): readonly PlannedMessage[] {
  const [share, from, within] = [dice.chance(0.8) ? 0.3 + dice.next() : 0, dice.next(), dice.scaled(1, spanMs)];
  return messages.map((message) =>
    message.poison !== undefined && dice.chance(share)
      ? { ...message, healsAt: Math.floor(from * spanMs + dice.next() * within) }
      : message,
  );
}

/** A source that hands out what is not as others are. */
export function odd(dice: Dice, messages: readonly PlannedMessage[]): readonly PlannedMessage[] {
  const share = (most: number): number => (dice.chance(0.2) ? dice.next() * most : 0);
  const [twins, forms, expiring, filtered] = [share(0.3), share(0.2), share(0.5), share(0.3)];
  const lastsMs = dice.scaled(100, 120_000);
  return messages.map((message) => {
    if (message.inject !== undefined) return message;
    return {
      ...message,
      ...(dice.chance(twins) && { id: `twin-${Math.floor(message.number / dice.whole(2, 3))}` }),
      ...(dice.chance(forms) && { form: dice.pick(FORMS) }),
      ...(dice.chance(expiring) && { expiresAt: message.at + dice.whole(1, lastsMs) }),
      ...(dice.chance(filtered) && { filtered: true as const }),
    };
  });
}
