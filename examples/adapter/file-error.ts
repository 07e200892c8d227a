import { BridgeError, type ErrorCode } from "@bridge/ports";

/** What can go wrong with a file, as the engine wants to know it: what may pass, and what will not. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  EACCES: "FORBIDDEN",
  EPERM: "FORBIDDEN",
  EROFS: "FORBIDDEN",
  ENOENT: "DESTINATION_NOT_FOUND",
  ENOTDIR: "DESTINATION_NOT_FOUND",
  EIO: "UNAVAILABLE",
  EMFILE: "UNAVAILABLE",
  ENFILE: "UNAVAILABLE",
  ENOSPC: "UNAVAILABLE",
};

/** The error of a file operation. One that is not in the table is `INTERNAL`: tried again, then given up. */
export function fileError(what: string, thrown: unknown): BridgeError {
  if (BridgeError.is(thrown)) return thrown;
  const { code = "unknown error" } = thrown as NodeJS.ErrnoException;
  return new BridgeError(CODES[code] ?? "INTERNAL", `${what}: ${code}`, { cause: thrown });
}
