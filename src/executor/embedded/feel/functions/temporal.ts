/** Built-in functions of dates, times and durations. */

import { ask, type Question } from "../temporal.ts";
import type { Body, Functions } from "./form.ts";

function asking(question: Question): Body {
  return (given, meter) =>
    ask(
      question,
      given.map((each) => each ?? null),
      meter,
    );
}

export const TEMPORAL_FUNCTIONS: Functions = {
  date: { from: asking("date"), "year, month, day": asking("dateOf") },
  time: {
    from: asking("time"),
    "hour, minute, second": asking("timeOf"),
    "hour, minute, second, offset": asking("zonedTimeOf"),
  },
  "date and time": { from: asking("date and time"), "date, time": asking("combine") },
  duration: { from: asking("duration") },
  "years and months duration": { "from, to": asking("years and months duration") },
  now: { "": asking("now") },
  today: { "": asking("today") },
  "day of week": { date: asking("day of week") },
  "day of year": { date: asking("day of year") },
  "month of year": { date: asking("month of year") },
  "week of year": { date: asking("week of year") },
};
