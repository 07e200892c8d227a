export { FaultWatch, type Trial } from "./fault-watch.ts";
export { LinkedAbort } from "./linked-abort.ts";
export { retryDelay } from "./retry-delay.ts";
export { Slots } from "./slots.ts";
export { sweepEvery } from "./sweep.ts";
