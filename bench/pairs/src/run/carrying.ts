import type { Carrier } from "../../../src/suite/load-run.ts";

/** Whoever carries the messages of one run, until disposed. */
export type Carrying = AsyncDisposable & Carrier;
