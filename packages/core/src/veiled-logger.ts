import type { LogFields, Logger } from "@bridge/ports";

/** Lines of which texts and fields have gone through `veil`. */
export function veiledLogger(logger: Logger, veil: (text: string) => string): Logger {
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields?: LogFields): void =>
      logger[level](veil(message), fields && veiledFields(fields, veil));
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => veiledLogger(logger.child(veiledFields(fields, veil)), veil),
  };
}

/** The fields of a line, with all texts in them. */
export function veiledFields(fields: LogFields, veil: (text: string) => string): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, through(value, veil)]));
}

function through(value: unknown, veil: (text: string) => string): unknown {
  if (typeof value === "string") return veil(value);
  return Array.isArray(value) ? value.map((element: unknown) => through(element, veil)) : value;
}
