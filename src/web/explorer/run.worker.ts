import { outcomeOf } from "./outcome.ts";
import type { Answer, Question } from "./simulation.ts";

/** The simulator beside the page, so that a control can be moved while it runs. One question, one answer. */

addEventListener("message", ({ data }: MessageEvent<Question>) => {
  const answer = (): Answer => {
    try {
      return { outcome: outcomeOf(data.settings) };
    } catch (error) {
      return { failed: error instanceof Error ? error.message : String(error) };
    }
  };
  postMessage(answer());
});
