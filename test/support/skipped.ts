import { it } from "vitest";

/** Shows in the test report why something was not tested. With `REQUIRE_SERVICES=1` that is a failure. */
export function skipped(name: string, reason: string): void {
  if (process.env["REQUIRE_SERVICES"] === "1") {
    it(name, () => {
      throw new Error(`REQUIRE_SERVICES forbids skipping: ${reason}`);
    });
  } else {
    it.skip(`${name} (skipped: ${reason})`, () => undefined);
  }
}
