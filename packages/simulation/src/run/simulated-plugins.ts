import { createRegistry, type Registry } from "@bridge/config";
import { defineFactory, type Sender, type SenderContext, type Session, type SessionContext } from "@bridge/ports";
import * as v from "valibot";
import { BrokerReceiver } from "../model/broker-receiver.ts";
import { BrokerSession } from "../model/broker-session.ts";
import { CallReceiver } from "../model/call-receiver.ts";
import { stumbling } from "../model/stumbling.ts";
import { seenSender } from "../model/seen-sender.ts";
import { TargetSender } from "../model/target-sender.ts";
import { TargetSession } from "../model/target-session.ts";
import type { Owner } from "../time/virtual-time.ts";
import { filter } from "../model/filter.ts";
import { gate } from "../model/gate.ts";
import type { World } from "./world.ts";

const options = v.strictObject({});
/** Of a session: as whom it connects. */
const login = v.strictObject({ login: v.optional(v.string(), "known") });
/** Of a store: another one than the first. */
const place = v.strictObject({ place: v.optional(v.literal("other")) });

export interface Sessions {
  readonly sources: Set<BrokerSession>;
  readonly targets: Set<TargetSession>;
  /** Those without a session. */
  readonly senders: Set<TargetSender>;
}

/** Worse than any client that there is: the engine has to live with it. */
const DEAF = 0.3;

/**
 * The edges of one instance, as plugins of a configuration. `sessions` are those that it has opened. `deaf`: how likely a client
 * of the source does not hear that an attempt to connect is given up.
 */
export function simulatedPlugins(
  world: World,
  owner: Owner,
  { sources, targets, senders }: Sessions,
  deaf = DEAF,
): Registry {
  const seen = (sender: Sender): Sender => seenSender(sender, owner, world);
  return createRegistry({
    transports: [
      {
        type: "simulated",
        session: defineFactory({
          options: login,
          create: ({ login: as }, { maxInFlight, sessionMode }: SessionContext): Session => {
            const session = new BrokerSession({
              broker: world.broker,
              owner,
              habits: world.plan.broker,
              window: maxInFlight,
              exclusive: sessionMode === "exclusive",
              known: as !== "unknown",
              deaf,
            });
            sources.add(session);
            return session;
          },
        }),
        receiver: {
          needsSession: true,
          topics: "refused",
          redelivers: "always",
          competing: true,
          ...defineFactory({
            options,
            create: (_, { id, session }: { readonly id: string; readonly session?: Session | undefined }) =>
              new BrokerReceiver(session as BrokerSession, id),
          }),
        },
        sender: {
          needsSession: false,
          ...defineFactory({
            options,
            create: (): Sender => {
              const sender = new TargetSender(world.target, owner);
              senders.add(sender);
              return seen(sender);
            },
          }),
        },
      },
      {
        type: "called",
        receiver: {
          needsSession: false,
          topics: "refused",
          redelivers: "never",
          competing: true,
          ...defineFactory({
            options,
            create: () => {
              if (world.callers === undefined) throw new Error("nobody calls");
              return new CallReceiver(world.callers, owner);
            },
          }),
        },
      },
      {
        type: "linked",
        session: defineFactory({
          options,
          create: (_, { sessionMode }: SessionContext): Session => {
            const session = new TargetSession({ ...world, owner, exclusive: sessionMode === "exclusive" });
            targets.add(session);
            return session;
          },
        }),
        sender: {
          needsSession: true,
          ...defineFactory({
            options,
            create: (_, { session }: SenderContext) => seen((session as TargetSession).sender()),
          }),
        },
      },
    ],
    processors: [
      {
        type: "simulated",
        ...defineFactory({
          options,
          create: () => ({
            ...stumbling(filter(world), owner, world),
            ...(world.plan.gated === true && gate(world, owner)),
          }),
        }),
      },
    ],
    outboxStores: [
      {
        type: "simulated",
        reach: world.plan.outbox?.shared === true ? "cluster" : "instance",
        ...defineFactory({
          options: place,
          create:
            ({ place: other }) =>
            (signal: AbortSignal) =>
              (other === undefined ? world.outbox : world.otherOutbox).open(owner, signal),
        }),
      },
    ],
    leaseStores: [
      {
        type: "simulated",
        reach: "cluster",
        ...defineFactory({ options, create: () => async () => world.leases.store(owner) }),
      },
    ],
    dlqStores: [
      {
        type: "simulated",
        reach: "cluster",
        ...defineFactory({
          options: place,
          create:
            ({ place: other }) =>
            async () =>
              (other === undefined ? world.dlq : world.otherDlq).store(owner),
        }),
      },
    ],
  });
}
