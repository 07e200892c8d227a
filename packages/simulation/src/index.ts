export { type Fault, type Habits, type Plan, type PlannedMessage, type TargetHabits } from "./plan/plan.ts";
export { draw } from "./plan/draw.ts";
export { runPlan, runSeed, type SeedRun } from "./run/run-seed.ts";
export { type Leg, type Places } from "./run/places.ts";
export { story } from "./story.ts";
export { parseScenario, type Scenario, scenarioText } from "./scenario.ts";
export { shrink, type ShrinkOptions } from "./shrink/shrink.ts";
export { breaksLike } from "./shrink/breaks-like.ts";
