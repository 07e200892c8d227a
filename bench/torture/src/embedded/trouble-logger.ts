import type { LogFields, Logger } from "@bridge/ports";

/** Writes what somebody would have to look at, a line each. */
export function troubleLogger(bound: LogFields): Logger {
  const at = (level: string) => (message: string, fields?: LogFields) =>
    console.log(JSON.stringify({ at: new Date(), level, message, ...bound, ...fields }));
  return {
    debug: () => {},
    info: () => {},
    warn: at("warn"),
    error: at("error"),
    child: (fields) => troubleLogger({ ...bound, ...fields }),
  };
}
