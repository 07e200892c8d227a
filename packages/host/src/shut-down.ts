import type { Auditor } from "@bridge/audit";
import type { ConfigTransactions } from "@bridge/config";
import type { Supervisor } from "@bridge/core";
import type { Logger, Seams } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { type Companion, stopAll } from "./companion.ts";
import type { ConfigFollower } from "./config-follower.ts";
import { messageOf } from "./message-of.ts";
import type { Servers } from "./open-servers.ts";

/**
 * How often a shutdown may spend `shutdown_timeout` (spec 3.3): `two` as the reference binary, first on the
 * configuration watch and the servers and then, afresh, on the rest; `one` as a process whose orchestrator allows no
 * more than that.
 */
export type ShutdownBudgets = "one" | "two";

/** What a process has opened so far. */
export interface Opened {
  readonly supervisor: Supervisor;
  readonly auditor: Auditor;
  readonly servers: Servers | undefined;
  /** Absent when no source is followed. */
  readonly follower?: Pick<ConfigFollower, "stop"> | undefined;
  /** Looks at the stored configuration once more; never rejects, and is bounded. Default: nobody does. */
  readonly lastLook?: (() => Promise<void>) | undefined;
  /** What is on probation goes on in the next process. */
  readonly transactions?: Pick<ConfigTransactions, "suspend"> | undefined;
  /** Those that were started. */
  readonly companions?: readonly Companion[] | undefined;
  /** Default: `two`. */
  readonly budgets?: ShutdownBudgets | undefined;
}

/** Why it ends: whoever asked for it, or a failure that the log has told, which a clean end does not undo. */
export type ShutdownReason = "asked" | "failed";

const ENDED: Readonly<Record<ShutdownReason, string>> = {
  asked: "stopped cleanly",
  failed: "everything is closed after a failure",
};

/**
 * Ends everything in the order of spec 3.3; tells whether it went cleanly.
 *
 * 1. The supervisor begins: readiness fails, and what is in flight may settle, within the runtime's own budgets. What
 *   is stored is looked at once more, if the end was asked for.
 * 2. The configuration is followed no more, and the servers stop, under `shutdown_timeout`. The admin server finishes
 *   the calls that it is serving; the monitor server answers probes until the supervisor has ended, so that whoever
 *   watches the drain sees it.
 * 3. The supervisor ends, its companions hand over what they hold, and the audit sinks get what is left, under what is
 *    left of that budget or a fresh one; what fails keeps nothing from the next.
 *
 * `shutdown_timeout` is read now, so that the configuration in force counts. What overruns is abandoned.
 */
export async function shutDown(
  opened: Opened,
  { clock, logger }: Pick<Seams, "clock" | "logger">,
  reason: ShutdownReason = "asked",
): Promise<boolean> {
  const { supervisor, auditor, servers, follower, transactions, lastLook, companions = [], budgets = "two" } = opened;
  const { shutdownTimeoutMs } = supervisor.config().bridge;
  const looked = reason === "asked" ? lastLook?.() : undefined;
  const ended = supervisor.shutdown();
  using first = deadline(clock, shutdownTimeoutMs, new Error(`still stopping after ${shutdownTimeoutMs} ms`));
  await Promise.all([stopServers(servers, ended, first.signal), join(follower, first.signal, logger), looked]);
  using second = deadline(clock, shutdownTimeoutMs, new Error(`still stopping after another ${shutdownTimeoutMs} ms`));
  const { signal } = budgets === "one" ? first : second;
  const stages = [
    () => orAborted(ended, signal),
    async () => {
      // A process that ends for any other reason has not ended in order.
      if (reason === "asked") await orAborted(transactions?.suspend() ?? Promise.resolve(), signal);
    },
    () => stopAll(companions, signal),
    () => orAborted(Promise.resolve(auditor[Symbol.asyncDispose]()), signal),
  ];
  const failures: string[] = [];
  for (const stage of stages) {
    const overdue = signal.aborted && failures.length > 0;
    try {
      await stage();
    } catch (error) {
      // That the budget is spent is told once.
      if (!overdue) failures.push(messageOf(error));
    }
  }
  if (failures.length === 0) logger.info(ENDED[reason]);
  else logger.error("the bridge did not stop cleanly", { error: failures.join("; ") });
  return failures.length === 0;
}

/** Never rejects. What a server is still serving when the budget ends is cut. */
async function stopServers(servers: Servers | undefined, ended: Promise<void>, budget: AbortSignal): Promise<void> {
  const drained = orAborted(ended, budget).catch(() => {});
  await Promise.all([servers?.admin?.close(budget), drained.then(() => servers?.monitor.close(budget))]);
}

/** Never rejects. What is still running when the budget ends is abandoned. */
async function join(follower: Opened["follower"], budget: AbortSignal, logger: Logger): Promise<void> {
  if (follower === undefined) return;
  const { watch, rollout } = follower.stop();
  const joined = async (stage: string, ended: Promise<void>): Promise<void> => {
    try {
      await orAborted(ended, budget);
    } catch (error) {
      logger.warn("a stage of the shutdown is abandoned", { stage, error: messageOf(error) });
    }
  };
  await Promise.all([joined("config watch", watch), joined("rollout", rollout)]);
}
