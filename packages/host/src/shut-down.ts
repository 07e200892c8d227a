import type { Auditor } from "@bridge/audit";
import type { Supervisor } from "@bridge/core";
import { deadline, type Logger, orAborted } from "@bridge/ports";
import type { ConfigFollower } from "./config-follower.ts";
import { messageOf } from "./message-of.ts";
import type { Servers } from "./open-servers.ts";

/** What a process has opened so far. */
export interface Opened {
  readonly supervisor: Supervisor;
  readonly auditor: Auditor;
  readonly servers: Servers | undefined;
  /** Absent when no source is followed. */
  readonly follower?: Pick<ConfigFollower, "stop"> | undefined;
}

/**
 * Ends everything in the order of spec 3.3, with the budgets of the reference binary; tells whether it went cleanly.
 *
 * 1. The supervisor begins: readiness fails, and what is in flight may settle, within the runtime's own budgets.
 * 2. The configuration is followed no more, and the servers stop, under `shutdown_timeout`. The admin server finishes the calls that it is serving; the monitor
 *    server answers probes until the supervisor has ended, so that whoever watches the drain sees it.
 * 3. Under a fresh `shutdown_timeout`, the supervisor ends and the audit sinks get what is left.
 *
 * `shutdown_timeout` is read now, so that the configuration in force counts. What overruns is abandoned.
 */
export async function shutDown({ supervisor, auditor, servers, follower }: Opened, logger: Logger): Promise<boolean> {
  const { shutdownTimeoutMs } = supervisor.config().bridge;
  const ended = supervisor.shutdown();
  await Promise.all([stopServers(servers, ended, shutdownTimeoutMs), join(follower, shutdownTimeoutMs, logger)]);
  using budget = deadline(shutdownTimeoutMs, new Error(`still stopping after another ${shutdownTimeoutMs} ms`));
  try {
    await orAborted(ended, budget.signal);
    await orAborted(Promise.resolve(auditor[Symbol.asyncDispose]()), budget.signal);
    logger.info("stopped cleanly");
    return true;
  } catch (error) {
    logger.error("the bridge did not stop cleanly", { error: messageOf(error) });
    return false;
  }
}

/** Never rejects. What a server is still serving when the budget ends is cut. */
async function stopServers(servers: Servers | undefined, ended: Promise<void>, budgetMs: number): Promise<void> {
  using budget = deadline(budgetMs, new Error("the servers' budget is spent"));
  const drained = orAborted(ended, budget.signal).catch(() => {});
  await Promise.all([servers?.admin?.close(budget.signal), drained.then(() => servers?.monitor.close(budget.signal))]);
}

/** Never rejects. What is still running when the budget ends is abandoned. */
async function join(follower: Opened["follower"], budgetMs: number, logger: Logger): Promise<void> {
  if (follower === undefined) return;
  using budget = deadline(budgetMs, new Error(`still running after ${budgetMs} ms`));
  try {
    await orAborted(follower.stop(), budget.signal);
  } catch (error) {
    logger.warn("a stage of the shutdown is abandoned", { stage: "config watch", error: messageOf(error) });
  }
}
