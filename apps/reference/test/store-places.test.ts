import * as config from "@bridge/config";
import { systemClock } from "@bridge/ports";
import { describeStorePlaces } from "@bridge/tooling/store-places";
import { plugins } from "../src/compose.ts";

describeStorePlaces(config, plugins(), systemClock);
