import type { ListenAddress } from "./listen-address.ts";

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use: end the program that listens there, or choose another addr",
  EADDRNOTAVAIL: "this machine has no such address: choose one of its own, or :port for all of them",
  EACCES: "this user may not listen on that port: choose one above 1023, or grant the right to",
  ENOTFOUND: "the name has no address: write an IP address, or :port for all of them",
};

/** Why a listener could not be opened, with what to do about it. */
export function listenError(address: ListenAddress, cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const why = REMEDIES[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new Error(`cannot listen on ${address.text}: ${why}`, { cause });
}
