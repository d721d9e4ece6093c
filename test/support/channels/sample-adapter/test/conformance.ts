import type { ConformanceTarget } from "#test/support/channels/conformance-target.ts";
import { sampleTarget } from "#test/support/channels/sample-platform.ts";

const target: ConformanceTarget = { ...sampleTarget, channel: "sample" };

export default target;
