import type { Recorder } from "@bridge/core";
import { SERIES_WINDOWS, type SeriesWindow } from "@bridge/core";
import type { Instance } from "./instance.ts";
import type { World } from "./world.ts";

const WINDOWS = Object.keys(SERIES_WINDOWS) as readonly SeriesWindow[];

/** Reads what the recorder of an instance has recorded: numbers that there can be, and nothing grave when all is at rest. */
export function readRecords({ auditor, plan }: World, { name, supervisor }: Instance, recorder: Recorder): void {
  for (const window of WINDOWS) {
    for (const route of [undefined, ...supervisor.config().routes.map(({ id }) => id)]) {
      const { values, stepMs } = recorder.series(window, route) ?? { values: {}, stepMs: 0 };
      for (const [series, all] of Object.entries(values)) {
        const wrong = all.find((value) => value !== null && !(value >= 0 && value < Infinity));
        if (wrong !== undefined) auditor.violated(`${name} has recorded ${wrong} of ${series} within ${stepMs} ms`);
      }
    }
  }
  for (const { code, what, until, since } of recorder.pastConditions())
    if (until === undefined || (until < since && !hasJumps(plan)))
      auditor.violated(`${name} tells that ${code} (${what}) has ended before it began`);
}

/** What nobody has to be woken for any more. */
export function recordedAtRest(world: World, instance: Instance, recorder: Recorder): void {
  readRecords(world, instance, recorder);
  for (const { code, severity, what } of recorder.conditions())
    if (severity === "critical") world.auditor.violated(`at rest ${instance.name} tells that ${code}: ${what}`);
}

function hasJumps({ faults }: World["plan"]): boolean {
  return faults.some(({ kind }) => kind === "jump" || kind === "freeze");
}
