import { type Recorder, SERIES, SERIES_WINDOWS, type SeriesWindow } from "@bridge/core";
import { HttpError } from "@bridge/http-kit";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import { filterValue } from "./values.ts";

const WINDOWS = Object.keys(SERIES_WINDOWS) as [SeriesWindow, ...SeriesWindow[]];
const values = v.array(v.nullable(v.number()));

export const series = v.object({
  from: v.pipe(v.string(), v.metadata({ format: "date-time" }), v.description("When the first step began.")),
  step_ms: v.pipe(v.number(), v.integer()),
  values: v.pipe(
    v.object(
      Object.fromEntries(SERIES.map((name) => [name, values])) as Record<(typeof SERIES)[number], typeof values>,
    ),
    v.description(
      "Counts are a second. `null`: before the start, a step without sends, and of `dlq` what is not of the process.",
    ),
  ),
});

/** What happened over time, from what this instance remembers. */
export function seriesEndpoint(recorder: Recorder): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/series",
    access: "admin",
    audit: "series.read",
    summary: "What happened over time: of the process, of a route, or of one of its bindings.",
    query: v.object({
      window: v.optional(
        v.pipe(
          v.picklist(WINDOWS),
          v.description("The last 5 minutes by the second, an hour by 10 s, a day by the minute."),
        ),
        "5m",
      ),
      route_id: filterValue("Of this route; of sends, the slowest of its bindings."),
      binding_id: filterValue("Of this binding; needs `route_id`."),
    }),
    refusals: { 404: "There are no series of this: only the first 200 bindings have some." },
    answers: { 200: { description: "Oldest first.", schema: series } },
  }).handle(({ query: { window, route_id: routeId, binding_id: bindingId } }) => {
    if (bindingId !== undefined && routeId === undefined)
      throw new HttpError(400, "invalid query: binding_id: needs route_id");
    const read = recorder.series(window, routeId, bindingId);
    if (read === undefined) throw new HttpError(404, "no series of this route or binding");
    const shown = Object.fromEntries(SERIES.map((name) => [name, [...read.values[name]]])) as Record<
      (typeof SERIES)[number],
      (number | null)[]
    >;
    return { status: 200, body: { from: formatTimestamp(read.from), step_ms: read.stepMs, values: shown } };
  });
}
