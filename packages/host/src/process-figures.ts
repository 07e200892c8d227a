import type { Auditor } from "@bridge/audit";
import type { ConfigTransactions } from "@bridge/config";
import type { OutsideFacts, Supervisor } from "@bridge/core";
import type { KeyRefresh } from "@bridge/http-monitor";
import type { Clock } from "@bridge/ports";
import type { Measured, ProcessFigures } from "@bridge/telemetry";
import { configChanges } from "./config-changes.ts";
import type { ConfigFollower } from "./config-follower.ts";
import { configWatchOf } from "./config-watch.ts";
import type { Servers } from "./open-servers.ts";
import type { DepartureNotice } from "./departure-notice.ts";

/** The parts of a process of which something is counted. */
export interface CountedParts {
  readonly supervisor: Supervisor;
  readonly auditor: Auditor;
  readonly follower: ConfigFollower;
  readonly transactions: ConfigTransactions;
  readonly departureNotice: DepartureNotice | undefined;
  readonly figures: ProcessFigures;
  /** Absent: they are not open yet. */
  readonly servers: Servers | undefined;
  readonly keyRefresh: (() => KeyRefresh | undefined) | undefined;
}

/** What metrics tell of them. */
export function measuredIn(parts: CountedParts): Measured {
  const { supervisor, auditor, follower, transactions, figures, servers, keyRefresh } = parts;
  return {
    supervisor,
    servers: servers?.stats() ?? [],
    process: figures,
    auditFailures: auditor.failures(),
    keyRefreshFailures: keyRefresh?.()?.failures,
    config: configChanges(configWatchOf(follower, transactions), follower, transactions),
  };
}

/** What conditions are held against besides the bridge. */
export function outsideFacts(parts: CountedParts, clock: Clock): OutsideFacts {
  const { auditor, follower, transactions, figures, servers } = parts;
  return {
    now: clock.now(),
    auditFailures: auditor.failures(),
    certificates: (servers?.stats() ?? []).flatMap(({ server, stats: { tls } }) =>
      tls === undefined ? [] : [{ server, expiresAt: tls.expiresAt }],
    ),
    loopP99Ms: figures.loopP99Ms,
    configError: configWatchOf(follower, transactions).lastError,
    probationEndsAt: transactions.confirmable()?.confirmBy,
    probationLeft: leftIn(parts),
  };
}

/** What people have to see to, and what somebody may wait for meanwhile: the one hides nothing of the other. */
function leftIn({ transactions, departureNotice }: CountedParts): string | undefined {
  const told = [
    transactions.withdrawn() ?? transactions.leftElsewhere()?.told,
    transactions.leftBehind(),
    departureNotice?.told,
  ].filter((one) => one !== undefined);
  return told.length === 0 ? undefined : told.join("; besides: ");
}
