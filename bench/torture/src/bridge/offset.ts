/** How far the wall clock of the bridge is ahead of the machine's, in milliseconds. */
export type ClockOffset = number;

/** Tells a process of the bridge where its clock stands when it starts. */
export const OFFSET_VARIABLE = "TORTURE_CLOCK_OFFSET_MS";
