import { describeConfigDepartures, describeConfigProbations, describeConfigStore } from "@bridge/conformance";
import { fileSubject } from "./support/file-subject.ts";

describeConfigStore("file", fileSubject);
describeConfigProbations("file", fileSubject);
describeConfigDepartures("file", fileSubject);
