import type { HttpSection, Problem, StartChecks } from "@bridge/config";
import { messageOf } from "./message-of.ts";
import { whyUnusable } from "./unusable-file.ts";

export interface StartCheckOptions {
  /** Whether servers and audit are not those of the document, so that what it says of them need not be of use. */
  readonly overruled: boolean;
  /** Throws where the servers of a process with this block could not be opened. */
  readonly keys: (http: HttpSection | undefined) => unknown;
  /** Whether the program carries out a `telemetry.otlp` block. */
  readonly exportsTelemetry: boolean;
  /** The time at which certificates are to be good. */
  readonly now: () => number;
}

/**
 * What a start of this program on this machine refuses of a document that is sound by itself: one place for `-validate`
 * and for changes while it runs, so that nothing is stored that does not start.
 */
export function startChecks({ overruled, keys, exportsTelemetry, now }: StartCheckOptions): StartChecks {
  return {
    whyUnusable: (file) =>
      overruled && (file.place[0] === "http" || file.place[0] === "audit")
        ? undefined
        : whyUnusable(file, now(), file.place[0] === "stores"),
    refusals: ({ http, telemetry }) => [
      ...whyNoKeys(() => keys(http)),
      ...(telemetry.otlp === undefined || exportsTelemetry ? [] : [NO_EXPORT]),
    ],
  };
}

/** In a program that has none. */
export const NO_EXPORT: Problem = {
  path: ["telemetry", "otlp"],
  message: "this program has no OTLP export; remove the block",
};

function whyNoKeys(keys: () => unknown): readonly Problem[] {
  try {
    keys();
    return [];
  } catch (error) {
    return [{ path: ["http"], message: messageOf(error) }];
  }
}
