import { type Logger, type LogFields, silentLogger } from "@bridge/ports";

/** A silent logger, and the fields that its children were made with. */
export function fieldLogger(): { readonly logger: Logger; readonly fields: readonly LogFields[] } {
  const fields: LogFields[] = [];
  const logger: Logger = {
    ...silentLogger,
    child: (own) => {
      fields.push(own);
      return logger;
    },
  };
  return { logger, fields };
}
