/** How a process ends, and the code that says so to whoever started it (spec 3.4; contract §7). */
export const EXIT_CODES = {
  /**
   * Help, version, a configuration that `-validate` found nothing wrong with, what `-try` was asked, tables that are
   * there, a bridge that `-healthcheck` found alive.
   */
  answered: 0,
  /** Asked to end, and ended cleanly. */
  stopped: 0,
  /**
   * `-validate` or `-create-tables` found problems, or no file; the message of `-try` would not get to all of its
   * bindings.
   */
  not_valid: 1,
  /** `-healthcheck`: the liveness probe did not answer 200, or not at all. */
  not_alive: 1,
  /** Plugins, configuration, keys, a listener or the runtime: the bridge never ran. */
  not_started: 1,
  /** Asked to end, but something failed to stop, or not in time. */
  not_stopped: 1,
  /** The runtime is beyond recovery; a new process has to take over. */
  terminal: 1,
  /** An error that nobody caught: nothing can be relied on any more. */
  crashed: 1,
  /** Not a command line of ours. */
  misused: 2,
  /** Asked a second time to end. */
  forced: 2,
} as const satisfies Readonly<Record<string, 0 | 1 | 2>>;

export type Ending = keyof typeof EXIT_CODES;
