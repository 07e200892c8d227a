import { type Clock, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { FileDatabase } from "../../../src/database/file-database.ts";
import { Lanes } from "../../../src/outbox/lanes.ts";
import { Loans } from "../../../src/outbox/loans.ts";
import { OUTBOX_FILE } from "../../../src/outbox/outbox-file-kind.ts";
import type { OutboxParts } from "../../../src/outbox/outbox-parts.ts";
import { type OutboxStatements, outboxStatements } from "../../../src/outbox/outbox-statements.ts";
import { SpoiledRecords } from "../../../src/outbox/spoiled-records.ts";
import { Window, type WindowLimits } from "../../../src/outbox/window.ts";

/** The parts of an outbox, for tests that look at one of them. */
export function openParts(
  path: string,
  limits: WindowLimits,
  clock: Clock = systemClock,
): OutboxParts & AsyncDisposable {
  const lanes = new Lanes();
  const loans = new Loans(systemClock, systemRandom());
  const spoiledRecords = new SpoiledRecords(systemClock, silentLogger);
  const window = new Window(loans, spoiledRecords, limits, systemClock);
  const file = new FileDatabase<OutboxStatements>({
    path,
    kind: OUTBOX_FILE,
    onDamage: "refuse",
    clock,
    logger: silentLogger,
    prepare(db) {
      const statements = outboxStatements(db);
      lanes.reload(statements);
      window.reset(statements.newest());
      return statements;
    },
  });
  const parts = { file, lanes, loans, window, spoiledRecords, clock: systemClock };
  return { ...parts, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
}
