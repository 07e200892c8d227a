import type { ErrorCode } from "@bridge/ports";
import { Dice } from "../../torture/src/plan/dice.ts";
import type { PlannedMessage, Scenario, SourceKind, TargetKind, Trouble, TroubleKind } from "./scenario.ts";

/** What each kind of target can refuse a message with for good, and be told to. */
export const REFUSALS: Readonly<Record<TargetKind, readonly [ErrorCode, ...ErrorCode[]]>> = {
  // A rule of the broker's forbids the topic.
  mqtt: ["NOT_AUTHORIZED"],
  // No queue takes it.
  amqp: ["DESTINATION_NOT_FOUND"],
  http: [
    "INVALID_PAYLOAD",
    "NOT_AUTHORIZED",
    "FORBIDDEN",
    "DESTINATION_NOT_FOUND",
    "PAYLOAD_TOO_LARGE",
    "SCHEMA_VIOLATION",
    "REJECTED",
  ],
};
/** What a web service says again and again, until the attempts are used up. */
const FOR_A_TIME = ["UNAVAILABLE", "THROTTLED"] as const;

/** As many attempts as no trouble here can use up: what is refused for a time only must end at its target. */
const MANY_ATTEMPTS = 30;
/** No message uses up more than five by being handed out again. */
const FEW_ATTEMPTS = [7, 9] as const;
/** As each takes seconds. */
const MOST_REFUSED_FOR_A_TIME = 2;

/** The scenario of a seed: a pure function of it. */
export function draw(seed: string): Scenario {
  const dice = new Dice(seed);
  const whole = (least: number, most: number): number => Math.floor(dice.between([least, most + 1]));
  const source = dice.pick<SourceKind>(["mqtt", "amqp"]);
  const kind = (): TargetKind => dice.pick(["mqtt", "amqp", "http"]);
  const targets = dice.chance(0.6) ? [kind()] : [kind(), kind()];
  const store = dice.pick<Scenario["store"]>(["file", "postgres"]);
  const exhausts = targets.includes("http") && dice.chance(0.3);
  const messages = drawMessages(dice.fork("messages"), targets, exhausts);
  const mqtt = source === "mqtt" || targets.includes("mqtt");
  const kinds: readonly [TroubleKind, ...TroubleKind[]] = [
    "kill",
    "stop",
    "freeze",
    "source_cut",
    "source_down",
    // An attempt that fails for another reason counts as well.
    ...(exhausts ? [] : (["target_cut", "target_down"] as const)),
    ...(mqtt && !exhausts ? (["broker_restart"] as const) : []),
    ...(store === "postgres" ? (["store_restart"] as const) : []),
  ];
  return {
    name: seed,
    source,
    retry: dice.pick(["requeue", "hold"]),
    targets,
    mode: dice.pick(["direct_hold", "shared_outbox"]),
    store,
    drops: dice.chance(0.25),
    attempts: exhausts ? whole(...FEW_ATTEMPTS) : MANY_ATTEMPTS,
    window: whole(2, 50),
    messages,
    troubles: drawTroubles(dice.fork("troubles"), kinds),
  };
}

function drawMessages(dice: Dice, targets: readonly TargetKind[], exhausts: boolean): readonly PlannedMessage[] {
  const whole = (least: number, most: number): number => Math.floor(dice.between([least, most + 1]));
  const [spanMs, refused] = [dice.between([300, 2_000]), dice.chance(0.7) ? dice.between([0, 0.4]) : 0];
  const keys = dice.chance(0.4) ? whole(1, 5) : 0;
  let left = exhausts ? MOST_REFUSED_FOR_A_TIME : 0;
  const refusal = (target: TargetKind): ErrorCode | undefined => {
    if (target === "http" && left > 0 && dice.chance(0.3)) {
      left--;
      return dice.pick(FOR_A_TIME);
    }
    return dice.chance(refused) ? dice.pick(REFUSALS[target]) : undefined;
  };
  return Array.from({ length: whole(5, 60) }, () => Math.floor(dice.next() * spanMs))
    .toSorted((a, b) => a - b)
    .map((at, number) => ({
      number,
      at,
      ...(keys > 0 && dice.chance(0.7) && { key: whole(1, keys) }),
      refused: targets.map(refusal),
    }));
}

/** One after another. A process that is about to start may be killed. */
function drawTroubles(dice: Dice, kinds: readonly [TroubleKind, ...TroubleKind[]]): readonly Trouble[] {
  let at = dice.between([50, 1_200]);
  return Array.from({ length: Math.floor(dice.between([1, 5])) }, (_, index) => {
    const kind = index === 0 || dice.chance(0.4) ? "kill" : dice.pick(kinds);
    const trouble = { kind, at: Math.floor(at), forMs: Math.floor(lasting(dice, kind)) };
    at = trouble.at + trouble.forMs + dice.between([50, 1_500]);
    return trouble;
  });
}

function lasting(dice: Dice, kind: TroubleKind): number {
  switch (kind) {
    case "kill":
    case "stop":
      return dice.between([0, 300]);
    case "source_cut":
    case "target_cut":
      return 0;
    case "freeze":
      return dice.between([200, 1_500]);
    case "source_down":
    case "target_down":
    case "broker_restart":
    case "store_restart":
      return dice.between([100, 800]);
  }
}
