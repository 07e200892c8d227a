import type { LogFields, Logger } from "./seams.ts";

/**
 * A logger of which no call throws, around one that may: what cannot be written is not, and the work goes on. A promise that
 * a call returns may reject. Without a usable `child` its lines come without the child's fields.
 */
export function steadyLogger(logger: Logger): Logger {
  return logger instanceof SteadyLogger ? logger : new SteadyLogger(logger);
}

class SteadyLogger implements Logger {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  debug(message: string, fields?: LogFields): void {
    this.#say("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#say("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#say("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#say("error", message, fields);
  }

  child(fields: LogFields): Logger {
    try {
      const child: unknown = this.#logger.child(fields);
      return typeof child === "object" && child !== null ? steadyLogger(child as Logger) : this;
    } catch {
      return this;
    }
  }

  #say(level: "debug" | "info" | "warn" | "error", message: string, fields: LogFields | undefined): void {
    try {
      const said: unknown = this.#logger[level](message, fields);
      if (said instanceof Promise) said.catch(() => {});
    } catch {
      // There is nobody left to tell.
    }
  }
}
