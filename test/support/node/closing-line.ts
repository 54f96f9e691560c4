import type { Reporter, TestModule } from "vitest/node";
import { NO_CHROMIUM, skipsBrowserTests } from "./chromium.ts";
import { NO_PROMTOOL, skipsPromtool } from "./promtool.ts";

/** Ends every test run with one plain line of counts, and says loudly what was skipped. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    let noBrowser = 0;
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      const failed = tests.filter((test) => test.result().state === "failed").length;
      const skipped = tests.filter((test) => !["passed", "failed"].includes(test.result().state));
      for (const test of skipped) console.log(`SKIPPED: ${test.fullName}`);
      if (module.project.name === "browser" && skipsBrowserTests()) noBrowser += skipped.length;
      counts.passed += tests.length - failed - skipped.length;
      counts.skipped += skipped.length;
      // A file can fail without a test of its own failing: it does not load, or its set-up throws.
      counts.failed += module.state() === "failed" ? Math.max(1, failed) : failed;
    }
    if (noBrowser > 0) console.log(`BROWSER TESTS SKIPPED, ${noBrowser} of them: ${NO_CHROMIUM}`);
    if (skipsPromtool()) console.log(`TESTS OF ops/ BY PROMTOOL SKIPPED: ${NO_PROMTOOL}`);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
