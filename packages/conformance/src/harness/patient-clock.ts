import { type Clock, systemClock } from "@bridge/ports";

const PATIENCE = 10;

/**
 * The machine's time, by which everything that is bounded has ten times as long: for stores behind a server, whose
 * requests would otherwise be given up, and so be tested as lost, because the machine is busy.
 */
export const patientClock: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() / PATIENCE,
  delay: (ms, signal) => systemClock.delay(ms * PATIENCE, signal),
};
