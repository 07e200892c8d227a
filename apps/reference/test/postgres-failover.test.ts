import { noPostgresCluster } from "@bridge/tooling/postgres-cluster";
import { describe, expect, test } from "vitest";
import { noMosquitto } from "./support/mosquitto.ts";
import { IN_FLIGHT, PostgresPair, type Trouble } from "./support/postgres-pair.ts";

const TROUBLES: readonly Trouble[] = ["crash", "freeze", "kill the owner"];

describe
  .skipIf(noMosquitto || noPostgresCluster)
  .concurrent("two processes of the binary on one PostgreSQL, under traffic", { timeout: 180_000 }, () => {
    test.each(["direct_hold", "shared_outbox"] as const)(
      "%s: the server crashes and stands still, the owner is killed, and nothing is lost",
      async (mode) => {
        await using pair = await PostgresPair.start(mode);
        await pair.through(TROUBLES);
        expect(pair.distinct).toBe(pair.published);
        expect(pair.target.accepted.length - pair.published).toBeLessThanOrEqual(TROUBLES.length * 2 * IN_FLIGHT);
        expect(new Set(await pair.unaccounted())).toEqual(new Set(["0"]));
      },
    );
  });
